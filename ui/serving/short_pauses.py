"""Shortens the pauses of Python's garbage collection. A full collection visits all objects. With
torch and Gradio loaded it takes a fifth of a second, in which no visitor is served. Most of the
objects that exist when the models are ready stay in use until other models are loaded. So they are
excluded from collections."""

from __future__ import annotations

import gc
import threading
import time
from typing import NoReturn

from ui.serving.model_host import ModelHost

_LOOK_SECONDS = 1.0


class ShortPauses:
    """Excludes the existing objects from collections each time a pair has been loaded."""

    def __init__(self, model_host: ModelHost) -> None:
        self._model_host = model_host
        self._frozen_for: int | None = None
        # when models are unloaded, a collection must find their objects
        model_host.before_unload.append(gc.unfreeze)

    def start(self) -> None:
        """Check for newly loaded models in the background."""
        threading.Thread(target=self._watch, name="short-pauses", daemon=True).start()

    def _watch(self) -> NoReturn:
        while True:
            self.look()
            time.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        """Exclude the objects that exist now, if a pair has been loaded since the last exclusion.
        The first exclusion is made when the first load has ended, even if it has failed."""
        version = self._model_host.version
        if self._model_host.settled and version != self._frozen_for:
            # an earlier `look` may have frozen objects of a pair while that pair was being unloaded
            gc.unfreeze()
            gc.collect()
            gc.freeze()
            self._frozen_for = version
