"""Downloads from the Hugging Face hub in a separate process: commands in and messages out, one JSON
object per line.

A process because it can be ended at once, whatever a connection does, and because the program
itself then never uses the network. It is run as a script by download.py, so that it starts without
torch.

    {"do": "list", "model", "revision"}   -> {"commit", "files": {name: bytes}}
    {"do": "get", "model", "commit", "files": [name, ...], "newest"} -> {"bytes": done so far},
    ..., then {"folder"}

A failure is reported as {"error": kind, "words"}, and the process ends. `huggingface_hub` starts an
interrupted file again; here a file grows under the name of its checksum, so that the next try
continues, and is moved to its final name once complete.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from huggingface_hub import HfApi, constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
from huggingface_hub.errors import GatedRepoError
from huggingface_hub.file_download import HfFileMetadata, http_get, repo_folder_name
from huggingface_hub.utils import WeakFileLock, build_hf_headers

AT_ONCE = 4
PROGRESS_SECONDS = 0.2
LOCK_SECONDS = 2.0
# the most that is lost of a file when the process is ended, and the step of progress
constants.DOWNLOAD_CHUNK_SIZE = 1 << 20


# What went wrong, by the name of an error or its base class, the first that matches. By name, as
# some are of libraries below `huggingface_hub` (filelock, httpx).
_KINDS = {
    "RepositoryNotFoundError": "missing",
    "RevisionNotFoundError": "revision",
    "HfHubHTTPError": "hub",
    "LocalEntryNotFoundError": "network",
    "TransportError": "network",
    "Timeout": "busy",
    "Damaged": "damaged",
}


class Damaged(Exception):
    """A file does not have the checksum that the hub states."""


class Count:
    """Bytes downloaded so far, of all files of a command together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.total = 0

    def add(self, count: int) -> None:
        with self._lock:
            self.total += count

    def bar(self) -> type:
        """A class that `http_get` uses as its progress bar."""
        count = self

        class Bar:
            def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
                count.add(initial)

            def __enter__(self) -> Bar:
                return self

            def __exit__(self, *_: Any) -> None:
                pass

            def update(self, more: int | float | None = 1) -> None:
                count.add(int(more or 0))

        return Bar


def listed(model: str, revision: str) -> Iterator[dict[str, Any]]:
    """The commit `revision` of `model`, or its newest one, and its top-level files with their
    sizes."""
    info = HfApi().model_info(model, revision=revision or None, files_metadata=True)
    files = {
        file.rfilename: file.size or 0 for file in info.siblings or () if "/" not in file.rfilename
    }
    yield {"commit": info.sha, "files": dict(list(files.items())[:2000])}


def got(model: str, commit: str, files: list[str], newest: bool) -> Iterator[dict[str, Any]]:
    """The messages of the download of `files`; the last one names their folder."""
    count = Count()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(get, model, commit, name, count) for name in files}
        while running:
            done, running = wait(running, PROGRESS_SECONDS, FIRST_EXCEPTION)
            for one in done:
                one.result()
            yield {"bytes": count.total}
    folder = cache_folder(model)
    if newest:
        (folder / "refs").mkdir(parents=True, exist_ok=True)
        (folder / "refs" / "main").write_text(commit, encoding="utf-8")
    yield {"folder": str(folder / "snapshots" / commit)}


def cache_folder(model: str) -> Path:
    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=model, repo_type="model")


def get(model: str, commit: str, name: str, count: Count) -> None:
    """Download one file into the hub's cache, continuing where an earlier try ended."""
    folder = cache_folder(model)
    if (there := folder / "snapshots" / commit / name).exists():
        count.add(there.stat().st_size)
        return
    url = hf_hub_url(model, name, revision=commit)
    about = get_hf_file_metadata(url)
    if not about.etag or not re.fullmatch(r"[\w-]{1,128}", about.etag):
        raise Damaged(f"the hub gave no usable checksum for {name}")
    whole = folder / "blobs" / about.etag
    lock = Path(constants.HF_HUB_CACHE) / ".locks" / folder.name / f"{about.etag}.part.lock"
    for parent in (whole.parent, lock.parent):
        parent.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(lock, timeout=LOCK_SECONDS):
        if whole.exists():
            count.add(whole.stat().st_size)
        else:
            fill(url, about, whole, count)
    # finds the blob in the cache and links the file's name to it
    hf_hub_download(model, name, revision=commit)


def fill(url: str, about: HfFileMetadata, whole: Path, count: Count) -> None:
    """Download to a file beside `whole` and move it there. One downloaded in several tries is
    checked first."""
    part = whole.with_suffix(".part")
    with part.open("ab") as file:
        if about.size is not None and file.tell() > about.size:
            file.truncate(0)
        start = file.seek(0, os.SEEK_END)
        http_get(
            url,
            file,
            resume_size=start,
            headers=build_hf_headers(),
            expected_size=about.size,
            tqdm_class=count.bar(),
        )  # pyright: ignore[reportArgumentType]
        if start == about.size:
            count.add(start)  # it was complete already, so nothing was downloaded
    if start and len(whole.name) == 64 and digest(part) != whole.name:
        part.unlink()
        raise Damaged(
            f"the partial download of {url.rsplit('/', 1)[-1]} from an earlier attempt was "
            "damaged and has been deleted"
        )
    part.replace(whole)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def kind_of(problem: BaseException) -> str:
    """What went wrong, as a key of the messages in download.py."""
    if isinstance(problem, GatedRepoError):
        return "gated" if problem.response.status_code == 401 else "closed"
    if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return "disk"
    names = [error.__name__ for error in type(problem).__mro__]
    return next((kind for name, kind in _KINDS.items() if name in names), "other")


def serve() -> None:
    """Carry out commands until one fails, or standard input ends with the program."""
    commands: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_read, args=(commands,), daemon=True).start()
    try:
        while True:
            asked = json.loads(commands.get())
            make = listed if asked.pop("do") == "list" else got
            for one in make(**asked):
                _send(one)
    except BaseException as problem:
        _send(
            {
                "error": kind_of(problem),
                "words": " ".join(str(problem).split())[:300] or type(problem).__name__,
            }
        )
        os._exit(1)  # at once: other files are still downloading, and what they have is kept


def _read(commands: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        commands.put(line)
    os._exit(0)


def _send(news: dict[str, Any]) -> None:
    print(json.dumps(news), flush=True)


if __name__ == "__main__":
    serve()
