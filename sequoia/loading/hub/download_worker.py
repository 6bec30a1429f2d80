"""Downloads from the Hugging Face hub in a separate process. It reads commands from standard input
and writes answers to standard output, one JSON object per line.

Unlike a thread, a process can be ended at once, even if a connection hangs. download.py runs this
file as a script, because importing it as a module of `sequoia` would first import torch.

    {"do": "list", "model", "revision"}   -> {"commit", "files": {name: bytes}}
    {"do": "get", "model", "commit", "files": [name, ...], "newest"} -> {"bytes": on disk so far,
    "kept": how many of these are from earlier downloads}, ..., then {"folder"}

A failure is answered with {"error": kind, "words"}, and the process ends. `huggingface_hub` would
restart an interrupted file from the beginning. Here a file is written to CHECKSUM.part, which the
next download continues, and is renamed once it is complete.
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

PREFIX = "SEQUOIA_"  # with which app.py hides the proxy variables from the page's process
AT_ONCE = 4
PROGRESS_SECONDS = 0.2
LOCK_SECONDS = 2.0
# Bytes. Progress is counted in chunks of this size. Chunks are small, so little is lost when the
# process is ended.
constants.DOWNLOAD_CHUNK_SIZE = 1 << 20


# Name of an exception or of one of its base classes -> kind of failure. The first match counts. The
# keys are names, because some of the classes are defined in libraries that huggingface_hub uses
# (filelock, httpx2).
_KINDS = {
    "RepositoryNotFoundError": "missing",
    "RevisionNotFoundError": "revision",
    "HfHubHTTPError": "hub",
    "LocalEntryNotFoundError": "network",
    "TransportError": "network",
    "Timeout": "busy",
    "Damaged": "damaged",
    "TooLarge": "large",
    "ImportError": "socks",
    "InvalidURL": "proxy",
}


class Damaged(Exception):
    """A file's checksum is not the one that the hub gives, or the hub gives no usable one."""


class TooLarge(Exception):
    """A file is larger than the hub serves over plain HTTP. The message is the file's name."""


class Count:
    """Counts the bytes of the files of one command. total: the bytes on disk so far. kept: how many
    of these are from earlier downloads. Several threads may call `add` and `keep`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.total = 0
        self.kept = 0

    def add(self, count: int) -> None:
        with self._lock:
            self.total += count

    def keep(self, count: int) -> None:
        """Count bytes that an earlier download has left on disk."""
        with self._lock:
            self.total += count
            self.kept += count

    def news(self) -> dict[str, int]:
        with self._lock:
            return {"bytes": self.total, "kept": self.kept}

    def bar(self) -> type:
        """A class that `http_get` uses as its progress bar."""
        count = self

        class Bar:
            def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
                count.keep(initial)

            def __enter__(self) -> Bar:
                return self

            def __exit__(self, *_: Any) -> None:
                pass

            def update(self, more: int | float | None = 1) -> None:
                count.add(int(more or 0))

        return Bar


def listed(model: str, revision: str) -> Iterator[dict[str, Any]]:
    """One message: the commit of `model` that `revision` names ("": the newest one), and the names
    and sizes of its files (the first 5000, from the top down)."""
    info = HfApi().model_info(model, revision=revision or None, files_metadata=True)
    names = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    files = sorted(names, key=lambda name: name.count("/"))
    yield {"commit": info.sha, "files": {name: names[name] for name in files[:5000]}}


def got(model: str, commit: str, files: list[str], newest: bool) -> Iterator[dict[str, Any]]:
    """Download `files`. Yields the number of bytes so far, several times a second, and at the end
    the folder of the files. newest: whether to set the cache's refs/main to `commit`."""
    count = Count()
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        running = {pool.submit(get, model, commit, name, count) for name in files}
        while running:
            done, running = wait(running, PROGRESS_SECONDS, FIRST_EXCEPTION)
            for one in done:
                one.result()
            yield count.news()
    finally:
        # after a failure, the other files are not waited for
        pool.shutdown(wait=False, cancel_futures=True)
    folder = cache_folder(model)
    if newest:
        (folder / "refs").mkdir(parents=True, exist_ok=True)
        (folder / "refs" / "main").write_text(commit, encoding="utf-8")
    yield {"folder": str(folder / "snapshots" / commit)}


def cache_folder(model: str) -> Path:
    """The folder of `model` in the hub's cache."""
    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=model, repo_type="model")


def get(model: str, commit: str, name: str, count: Count) -> None:
    """Download one file into the hub's cache, continuing an interrupted download of it."""
    folder = cache_folder(model)
    if (there := folder / "snapshots" / commit / name).exists():
        count.keep(there.stat().st_size)
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
            count.keep(whole.stat().st_size)
        else:
            fill(url, about, whole, count)
    # finds the blob in the cache and links the file's name to it
    hf_hub_download(model, name, revision=commit)


def fill(url: str, about: HfFileMetadata, whole: Path, count: Count) -> None:
    """Download to a .part file and rename it to `whole`. If an earlier download began the .part
    file, its SHA-256 is verified before the rename. Small files have another kind of checksum,
    which is not verified. Raises TooLarge, or Damaged if the SHA-256 is wrong."""
    part = whole.with_suffix(".part")
    with part.open("ab") as file:
        if about.size is not None and file.tell() > about.size:
            file.truncate(0)
        start = file.seek(0, os.SEEK_END)
        if not start and (about.size or 0) > constants.MAX_HTTP_DOWNLOAD_SIZE:
            raise TooLarge(url.rsplit("/", 1)[-1])
        http_get(
            url,
            file,
            resume_size=start,
            headers=build_hf_headers(),
            expected_size=about.size,
            tqdm_class=count.bar(),
        )  # pyright: ignore[reportArgumentType]
        if start == about.size:
            count.keep(start)  # the .part file was already complete, so http_get counted nothing
    if start and len(whole.name) == 64 and digest(part) != whole.name:
        part.unlink()
        raise Damaged(
            f"the partial download of {url.rsplit('/', 1)[-1]} from an earlier attempt was damaged "
            "and has been deleted"
        )
    part.replace(whole)


def digest(path: Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def kind_of(problem: BaseException) -> str:
    """The kind of failure: a key of the messages in `reason` of download.py, or "other"."""
    if isinstance(problem, GatedRepoError):
        return "gated" if problem.response.status_code == 401 else "closed"
    if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return "disk"
    if isinstance(problem, ValueError) and "proxy" in str(problem):
        return "proxy"
    names = [error.__name__ for error in type(problem).__mro__]
    return next((kind for name, kind in _KINDS.items() if name in names), "other")


def use_proxies() -> None:
    """Give the proxy variables their own names."""
    for name in list(os.environ):
        if name.startswith(PREFIX) and name.lower().endswith("_proxy"):
            os.environ[name.removeprefix(PREFIX)] = os.environ.pop(name)


def serve() -> None:
    """Carry out commands until one fails or standard input is closed."""
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
        # without waiting for the threads that download other files; their .part files remain
        os._exit(1)


def _read(commands: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        commands.put(line)
    os._exit(0)


def _send(news: dict[str, Any]) -> None:
    print(json.dumps(news), flush=True)


if __name__ == "__main__":
    use_proxies()
    serve()
