"""A temporary folder that only this app uses, for uploads and downloads. Gradio's default folder is
shared by all apps on the machine.

Imports only the standard library, because the folder must be set before Gradio is imported.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR

SECONDS = 30.0  # between two checks of the size
VARIABLE = "GRADIO_TEMP_DIR"  # the environment variable that tells Gradio where the folder is


class NoTemporaryFolder(Exception):
    """The folder cannot be created. The message says why and what to do."""


def make_folder() -> Path:
    """Create a folder that Gradio uses from now on, inside GRADIO_TEMP_DIR if that is set. Raises
    NoTemporaryFolder."""
    parent = os.environ.get(VARIABLE)
    try:
        if parent:
            Path(parent).mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="sequoia-", dir=parent)
    except OSError as problem:
        where = f"in {VARIABLE}={parent}" if parent else "on this machine"
        raise NoTemporaryFolder(
            f"cannot create a temporary folder {where} ({problem.strerror}); set {VARIABLE} to a "
            "folder that you can write to"
        ) from None
    os.environ[VARIABLE] = folder
    return Path(folder)


def keep_small(folder: Path, most: int, most_files: int) -> None:
    """Start a thread that calls `trim` every half minute."""

    def watch() -> None:
        while True:
            time.sleep(SECONDS)
            trim(folder, most, most_files)

    threading.Thread(target=watch, name="temporary-folder", daemon=True).start()


def trim(folder: Path, most: int, most_files: int) -> None:
    """Remove the oldest files in `folder` and its subfolders until at most `most` bytes and
    `most_files` files are left. Subfolders that become empty are removed as well: Gradio creates
    one for each file, and the number of folders on a disk is limited."""
    total = 0
    for number, (_, size, path) in enumerate(sorted(_files(folder), reverse=True), 1):
        total += size
        if total > most or number > most_files:
            with suppress(OSError):
                path.unlink(missing_ok=True)
                if path.parent != folder:
                    path.parent.rmdir()  # fails if the folder is not empty


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """The modification time, size in bytes and path of each file. Links are not followed. Files
    that are removed meanwhile are skipped."""
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent, name) for name in (*folders, *files)):
            with suppress(OSError):
                status = path.lstat()
                if not S_ISDIR(status.st_mode):
                    yield status.st_mtime, status.st_size, path


def remove_folder(folder: Path) -> None:
    """Remove the folder and all files in it."""
    shutil.rmtree(folder, ignore_errors=True)
