"""The finished units of each visitor's experiments, so that an interrupted one can continue.
Independent of the page."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from pathlib import Path

from ui.serving.temporary_folder import VARIABLE


class KeptUnits:
    """A folder for each of the last `most` visitors. All methods are thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._folders: OrderedDict[str, Path] = OrderedDict()

    def folder(self, who: str) -> Path:
        """The visitor's folder. Raises OSError if there is none and none can be made."""
        with self._lock:
            if who not in self._folders:
                parent = os.environ.get(VARIABLE)
                self._folders[who] = Path(tempfile.mkdtemp(prefix="experiments-", dir=parent))
            self._folders.move_to_end(who)
            while len(self._folders) > self._most:
                _remove(self._folders.popitem(last=False)[1])
            return self._folders[who]

    def forget(self, who: str) -> None:
        """The visitor has left. A run that has not ended yet fails at its next unit."""
        with self._lock:
            if folder := self._folders.pop(who, None):
                _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
