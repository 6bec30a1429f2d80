"""The finished units of each visitor's experiments, so that an interrupted one goes on. Independent
of the page."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections import OrderedDict
from pathlib import Path

from ui.serving.temporary_folder import VARIABLE


class UnitFolder:
    """A folder of files that is removed once nobody uses the object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="experiments-", dir=os.environ.get(VARIABLE)))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class KeptUnits:
    """A folder for each of the last `most` visitors. All methods are thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._folders: OrderedDict[str, UnitFolder] = OrderedDict()

    def folder(self, who: str) -> UnitFolder:
        """The visitor's folder. Raises OSError if there is none and none can be made."""
        with self._lock:
            if who not in self._folders:
                self._folders[who] = UnitFolder()
            self._folders.move_to_end(who)
            while len(self._folders) > self._most:
                self._folders.popitem(last=False)
            return self._folders[who]

    def forget(self, who: str) -> None:
        """The visitor has left."""
        with self._lock:
            self._folders.pop(who, None)
