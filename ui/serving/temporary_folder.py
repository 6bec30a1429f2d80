"""A temporary folder for one app: uploads, and files to download. Gradio's own default is shared by
all apps on the machine. Imports only the standard library."""

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

SECONDS = 30.0  # between two looks at the size
VARIABLE = "GRADIO_TEMP_DIR"  # where Gradio looks for it


class NoTemporaryFolder(Exception):
    """The folder cannot be made; the text says why and what to do."""


def make_folder() -> Path:
    """A new folder, used by Gradio from now on. It is made below GRADIO_TEMP_DIR if that is set."""
    parent = os.environ.get(VARIABLE)
    try:
        if parent:
            Path(parent).mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="sequoia-", dir=parent)
    except OSError as problem:
        where = f"below {VARIABLE}={parent}" if parent else "on this machine"
        raise NoTemporaryFolder(
            f"no temporary folder can be made {where} ({problem.strerror}); set {VARIABLE} to a "
            "folder that you can write to"
        ) from None
    os.environ[VARIABLE] = folder
    return Path(folder)


def keep_small(folder: Path, most: int, most_files: int) -> None:
    """Remove the oldest files every half minute while there are more than `most` bytes or
    `most_files` files, in the background."""

    def watch() -> None:
        while True:
            time.sleep(SECONDS)
            trim(folder, most, most_files)

    threading.Thread(target=watch, name="temporary-folder", daemon=True).start()


def trim(folder: Path, most: int, most_files: int) -> None:
    """Remove the oldest files in `folder`, also in folders below it, until at most `most` bytes and
    `most_files` files are left, and the folders that this empties: Gradio makes one for each file,
    and a disk has room for only so many."""
    files = sorted(_files(folder))
    total = sum(size for _, size, _ in files)
    for place, (_, size, path) in enumerate(files):
        if total <= most and len(files) - place <= most_files:
            return
        with suppress(OSError):
            path.unlink()
            total -= size
            if path.parent != folder:
                path.parent.rmdir()  # fails if other files are in it


def _files(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """When each file was written, and its size in bytes. A folder that is removed meanwhile is
    passed over, and a link is a file."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent, name)
            with suppress(OSError):  # it was removed meanwhile
                status = path.lstat()
                if not S_ISDIR(status.st_mode):
                    yield status.st_mtime, status.st_size, path


def remove_folder(folder: Path) -> None:
    """Remove the folder and all files in it."""
    shutil.rmtree(folder, ignore_errors=True)
