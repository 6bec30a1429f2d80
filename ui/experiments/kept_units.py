"""Folders for the finished units of each visitor's experiments, so that an interrupted experiment
can continue. A unit is a small piece of an experiment's work."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from pathlib import Path

from ui.serving.temporary_folder import VARIABLE


class KeptUnits:
    """A temporary folder for each visitor. If there are more than `most`, the least recently
    requested one is deleted. All methods are thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._folders: OrderedDict[str, Path] = OrderedDict()

    def folder(self, who: str) -> Path:
        """The visitor's folder, created if there is none. Raises OSError if that fails."""
        with self._lock:
            if who not in self._folders:
                parent = os.environ.get(VARIABLE)
                self._folders[who] = Path(tempfile.mkdtemp(prefix="experiments-", dir=parent))
            self._folders.move_to_end(who)
            while len(self._folders) > self._most:
                _remove(self._folders.popitem(last=False)[1])
            return self._folders[who]

    def forget(self, who: str) -> None:
        """Delete the visitor's folder, if there is one."""
        with self._lock:
            if folder := self._folders.pop(who, None):
                _remove(folder)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
