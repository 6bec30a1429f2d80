"""Downloads from the Hugging Face hub in a separate process. It reads commands from standard input
and writes answers to standard output, one JSON object per line.

Unlike a thread, a process can be ended at once, even if a connection hangs. download.py runs this
file as a script, because importing it as a module of `sequoia` would first import torch.

    {"do": "list", "model", "revision"} -> {"commit", "files": {name: bytes}}
    {"do": "get", "model", "commit", "files": [name, ...]} -> {"bytes": of these files that are on
    disk so far} and {"rate": bytes per second}, ..., then {"folder"}

A failure is answered with {"error": kind, "words"}, and the process ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from glob import escape
from io import StringIO
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from huggingface_hub import HfApi, constants, file_download, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from tqdm.auto import tqdm

PREFIX = "SEQUOIA_"  # with which app.py hides the proxy variables from the page's process
AT_ONCE = 4
# Bytes. Progress is counted in chunks of this size. Chunks are small, so little is lost when the
# process is ended.
constants.DOWNLOAD_CHUNK_SIZE = 1 << 20


class Bar(tqdm):
    """A progress bar that sends its state instead of drawing it. `huggingface_hub` has one for the
    bytes that arrive, and one that also counts those of an earlier, interrupted download."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "file": StringIO()})

    def display(self, *_: Any, **__: Any) -> bool:
        if self.unit == "B" and str(self.desc).startswith("Downloading"):
            _send({"rate": self.format_dict["rate"] or 0})
        elif self.unit == "B":
            _send({"bytes": self.n})
        return True


def listed(model: str, revision: str | None) -> Iterator[dict[str, Any]]:
    """One message: the commit `revision` of `model`, or else the newest one, and the names and
    sizes of its files (the first 5000, from the top down)."""
    info = HfApi().model_info(model, revision=revision, files_metadata=True)
    names = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    files = sorted(names, key=lambda name: name.count("/"))
    yield {"commit": info.sha, "files": {name: names[name] for name in files[:5000]}}


def got(model: str, commit: str, files: list[str]) -> Iterator[dict[str, Any]]:
    """Download `files`, and yield their folder. Sets the cache's refs/main to `commit`."""
    file_download.http_get = continued
    patterns = [escape(name) for name in files]
    folder = Path(
        snapshot_download(
            model,
            revision=commit,
            allow_patterns=patterns,
            max_workers=AT_ONCE,
            tqdm_class=Bar,
        )
    )
    main = folder.parent.parent / "refs" / "main"
    main.parent.mkdir(exist_ok=True)
    main.write_text(commit, encoding="utf-8")
    yield {"folder": str(folder)}


_http_get = file_download.http_get


def continued(url: str, temp_file: Any, **options: Any) -> None:
    """The library's `http_get`, which begins each file anew. Here it writes to CHECKSUM.part, which
    stays if the download is interrupted, and the next download continues it. The SHA-256 of a
    continued file is verified; small files have another kind of checksum, which is not. Raises
    OSError."""
    if "resume_size" in options:  # `http_get` calls itself to go on after a lost connection
        return _http_get(url, temp_file, **options)
    path = Path(temp_file.name)
    checksum = path.name.partition(".")[0]
    part = path.with_name(f"{checksum}.part")
    with part.open("ab") as begun:
        if begun.tell() > (options.get("expected_size") or 0):
            begun.truncate(0)
        start = begun.seek(0, os.SEEK_END)
        _http_get(url, begun, resume_size=start, **options)
    with part.open("rb") as whole:
        found = hashlib.file_digest(whole, "sha256").hexdigest() if start else checksum
    if len(checksum) == 64 and found != checksum:
        part.unlink()
        raise OSError(
            f"the partial download of {url.rsplit('/', 1)[-1]} from an earlier attempt was damaged "
            "and has been deleted; load it again"
        )
    part.replace(path)


def error_kind(problem: BaseException) -> str:
    """The kind of failure: a key of the messages in `reason` of download.py, or "other"."""
    if isinstance(problem, GatedRepoError):
        return "gated"
    if isinstance(problem, RepositoryNotFoundError):
        return "missing"
    # the second is a class of the library that huggingface_hub uses
    names = {error.__name__ for error in type(problem).__mro__}
    return "network" if names & {"LocalEntryNotFoundError", "TransportError"} else "other"


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
        if isinstance(problem, LocalEntryNotFoundError) and problem.__cause__:
            problem = problem.__cause__
        words = " ".join(str(problem).split())[:300] or type(problem).__name__
        _send({"error": error_kind(problem), "words": words})
        os._exit(1)


def _read(commands: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        commands.put(line)
    os._exit(0)


def _send(news: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(news)}\n")  # in one piece: several threads send
    sys.stdout.flush()


if __name__ == "__main__":
    use_proxies()
    serve()
