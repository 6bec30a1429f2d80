"""Python's garbage collection goes through all objects now and then. With torch and Gradio loaded
that takes a fifth of a second, and nobody is served meanwhile. Objects that exist when the models
are ready stay anyway, so they are left out of it."""

from __future__ import annotations

import gc
import threading
import time
from typing import NoReturn

from ui.serving.model_host import ModelHost

_LOOK_SECONDS = 1.0


class ShortPauses:
    """Leaves the objects that exist out of collections, anew for each pair that is loaded."""

    def __init__(self, model_host: ModelHost) -> None:
        self._model_host = model_host
        self._frozen_for: int | None = None
        # what the models hold must be found when they are unloaded
        model_host.before_unload.append(gc.unfreeze)

    def start(self) -> None:
        """Look for loaded models in the background."""
        threading.Thread(target=self._watch, name="short-pauses", daemon=True).start()

    def _watch(self) -> NoReturn:
        while True:
            self.look()
            time.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """Leave out what exists now, if a pair was loaded since the last time, or none could be."""
        version = self._model_host.version
        if self._model_host.settled and version != self._frozen_for:
            gc.unfreeze()  # other models may have been unloaded while the last ones were left out
            gc.collect()
            gc.freeze()
            self._frozen_for = version
