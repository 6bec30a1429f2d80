"""Transfers from the Hugging Face hub in a process of their own: commands come in and news go out,
one JSON object a line.

A process because it can be ended at once, whatever a connection does, and because the program
itself then never speaks to a network. It is run as a script, so that it starts without torch. See
download.py for who runs it.

    {"do": "list", "model", "revision"}   -> {"commit", "files": {name: bytes}}
    {"do": "get", "model", "commit", "files": [name, ...], "newest"} -> {"bytes": done so far},
    ..., then {"folder"}

What fails is told as {"error": kind, "words"}, and the process ends. `huggingface_hub` begins a
broken file anew; here a file grows under the name of its content, so that the next try goes on
where the last one was, and is moved to its place when whole.
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
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import HfFileMetadata, http_get, repo_folder_name
from huggingface_hub.utils import WeakFileLock, build_hf_headers

AT_ONCE = 4
PROGRESS_SECONDS = 0.2
LOCK_SECONDS = 2.0
# what is lost of a file when the process is ended, and how finely progress is told
constants.DOWNLOAD_CHUNK_SIZE = 1 << 20


class Damaged(Exception):
    """A file is not what the hub says it is."""


class Count:
    """Bytes that are there, of all files of a command together."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.total = 0

    def add(self, count: int) -> None:
        with self._lock:
            self.total += count

    def bar(self) -> type:
        """What `http_get` takes for a progress bar."""
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
    """The commit `revision` of `model`, or its newest one, and its files outside folders,
    with their sizes."""
    info = HfApi().model_info(model, revision=revision or None, files_metadata=True)
    files = {
        file.rfilename: file.size or 0 for file in info.siblings or () if "/" not in file.rfilename
    }
    yield {"commit": info.sha, "files": dict(list(files.items())[:2000])}


def got(model: str, commit: str, files: list[str], newest: bool) -> Iterator[dict[str, Any]]:
    """News of the transfer of `files`, the last of which names their folder."""
    count = Count()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(get, model, commit, name, count) for name in files}
        while running:
            done, running = wait(running, PROGRESS_SECONDS, FIRST_EXCEPTION)
            for one in done:
                one.result()
            yield {"bytes": count.total}
    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=model, repo_type="model")
    if newest:
        (folder / "refs").mkdir(parents=True, exist_ok=True)
        (folder / "refs" / "main").write_text(commit, encoding="utf-8")
    yield {"folder": str(folder / "snapshots" / commit)}


def get(model: str, commit: str, name: str, count: Count) -> None:
    """One file into the hub's cache, beginning where an earlier try ended."""
    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=model, repo_type="model")
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
    # finds the content in its place and gives it its name
    hf_hub_download(model, name, revision=commit)


def fill(url: str, about: HfFileMetadata, whole: Path, count: Count) -> None:
    """Download to a file beside `whole` and move it there; one made in several tries
    is checked before."""
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
            count.add(start)  # it was whole already, and nothing was transferred
    if start and len(whole.name) == 64 and digest(part) != whole.name:
        part.unlink()
        raise Damaged(
            f"what was kept of {url.rsplit('/', 1)[-1]} from an earlier try was "
            "damaged and is removed"
        )
    part.replace(whole)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def kind_of(problem: BaseException) -> str:
    """What went wrong, in a word that download.py knows. Errors of the libraries below
    `huggingface_hub` are told by name."""
    names = {error.__name__ for error in type(problem).__mro__}
    if isinstance(problem, GatedRepoError):
        return "gated" if problem.response.status_code == 401 else "closed"
    if isinstance(problem, RepositoryNotFoundError):
        return "missing"
    if isinstance(problem, RevisionNotFoundError):
        return "revision"
    if isinstance(problem, HfHubHTTPError):
        return "hub"
    if isinstance(problem, LocalEntryNotFoundError) or "TransportError" in names:
        return "network"
    if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return "disk"
    return "busy" if "Timeout" in names else "damaged" if isinstance(problem, Damaged) else "other"


def serve() -> None:
    """Carry out commands until there are no more, or whoever gives them is gone."""
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
        os._exit(1)  # other transfers of the command are in midstream; what they have is kept


def _read(commands: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        commands.put(line)
    os._exit(0)


def _send(news: dict[str, Any]) -> None:
    print(json.dumps(news), flush=True)


if __name__ == "__main__":
    serve()
