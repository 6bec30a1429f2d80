"""Downloads models from the Hugging Face hub into its local cache.

A separate process (download_worker.py) looks models up and downloads them. The process can be
ended at any time. The next download of the same model continues where the last one stopped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from huggingface_hub import constants

from sequoia.algorithm.progress import ShouldStop
from sequoia.errors import NotDownloaded, Stopped
from sequoia.loading.model_files import (
    INDEX,
    ListedFiles,
    cached,
    files_in,
    hub_folder,
    refuse_other_formats,
    small_files,
)
from sequoia.loading.pair_request import pinned_revision
from sequoia.this_machine.memory import size

ROOM_LEFT = 1_000_000_000  # bytes that must stay free on the disk
_LOOK_SECONDS = 0.1
_SCRIPT = Path(__file__).with_name("download_worker.py")
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "0",
    "TRANSFORMERS_OFFLINE": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_XET": "1",  # Xet cannot resume an interrupted download
}


@dataclass(frozen=True)
class DownloadProgress:
    """Progress of the download of `model`, in bytes. rate: bytes per second just now."""

    model: str
    done: int
    total: int
    rate: float

    def __str__(self) -> str:
        return f"{self.model}: {size(self.done)} of {size(self.total)}, {size(self.rate)}/s"


@dataclass(frozen=True, eq=False)
class Listing:
    """A model on the hub at one commit. files: name -> size in bytes of each file to download.
    weights: the names of those with weights."""

    model: str
    commit: str
    files: Mapping[str, int]
    weights: frozenset[str] = frozenset()

    @property
    def weight_bytes(self) -> int:
        """Total size of the weight files."""
        return sum(self.files[name] for name in self.weights)

    @property
    def missing_bytes(self) -> int:
        """Total size of the files that are not complete in the cache. A partly downloaded file
        counts in full."""
        return sum(count for name, count in self.files.items() if not self.is_here(name))

    def is_here(self, name: str) -> bool:
        """Whether the file `name` is complete in the cache."""
        return (hub_folder(self.model) / "snapshots" / self.commit / name).exists()


class Downloads:
    """A context manager that looks up and fetches models. Leaving it ends any download.

    on_progress: called several times a second while weights are downloaded. should_stop: polled ten
    times a second during a look-up or a download. Once it returns True, Stopped is raised. online:
    if False, every look-up is refused; if None, look-ups are refused if HF_HUB_OFFLINE or
    TRANSFORMERS_OFFLINE is set. A refused or failed look-up and a failed download raise
    NotDownloaded.
    """

    def __init__(
        self,
        on_progress: Callable[[DownloadProgress], None] = lambda _: None,
        should_stop: ShouldStop = lambda: False,
        online: bool | None = None,
    ) -> None:
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._online = not constants.HF_HUB_OFFLINE if online is None else online
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> Downloads:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def locate(self, ref: str) -> Path | Listing:
        """The folder of the model `ref` if it is on this machine, otherwise its listing on the hub.
        The hub is contacted only for a listing. Raises what `look_up` raises."""
        return Path(ref) if Path(ref).is_dir() else _cached(ref) or self.look_up(ref)

    def look_up(self, model: str) -> Listing:
        """The files of `model` on the hub at its pinned commit, or else at the newest. Their index
        is downloaded if it says which files have the weights. Raises BadModel if `model` has no
        complete safetensors weights. Also raises NotDownloaded and Stopped (see the class)."""
        if not self._online:
            raise NotDownloaded(
                f"{model} is not on this machine, and HF_HUB_OFFLINE is set (or "
                "TRANSFORMERS_OFFLINE, or online=False), so the hub is not contacted; allow "
                "downloads, or give a local folder"
            )
        command = {"do": "list", "model": model, "revision": pinned_revision(model) or None}
        found = next(self._ask(model, command))
        files = {str(name): int(count) for name, count in found["files"].items()}
        small = {name: files[name] for name in small_files(files)}
        listing = Listing(model, str(found["commit"]), small)
        listed = ListedFiles(model, frozenset(files), lambda: self._index(listing))
        refuse_other_formats(listed)
        used = small | {name: files[name] for name in listed.weights}
        return replace(listing, files=used, weights=frozenset(listed.weights))

    def _index(self, listing: Listing) -> bytes:
        one = replace(listing, files={INDEX: listing.files[INDEX]})
        return files_in(self.fetch(one, weights=False), listing.model).read_index()

    def fetch(self, listing: Listing, weights: bool) -> Path:
        """Download the small files of `listing` (configs, tokenizer, weight index). If `weights` is
        True, download its weight files too. Returns their folder in the cache."""
        names = [name for name in listing.files if weights or name not in listing.weights]
        total = sum(listing.files[name] for name in names)
        here = total - sum(listing.files[name] for name in names if not listing.is_here(name))
        state = {"bytes": 0, "rate": 0.0}
        command = {
            "do": "get",
            "model": listing.model,
            "commit": listing.commit,
            "files": names,
        }
        for news in self._ask(listing.model, command):
            state |= {"bytes": total - here} if "folder" in news else news
            if weights:
                done = here + int(state["bytes"])
                self._on_progress(DownloadProgress(listing.model, done, total, state["rate"]))
            if "folder" in news:
                return Path(news["folder"])
        raise NotDownloaded(f"the download of {listing.model} ended without a message")

    # -- the process -------------------------------------------------------------------------------

    def _ask(self, model: str, command: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send `command` to the process and yield its answers. Raises NotDownloaded if the command
        fails, and Stopped if `should_stop` returns True."""
        environment = {**_ENVIRONMENT, "HF_HUB_CACHE": constants.HF_HUB_CACHE}
        worker = self._worker = self._worker or WorkerProcess(_SCRIPT, environment)
        worker.send(command)
        done = 0
        while True:
            if self._should_stop():
                raise Stopped(
                    "stopped; the downloaded part is kept, and the next download continues there"
                )
            try:
                news = worker.receive(_LOOK_SECONDS) or {}
            except WorkerEnded as problem:
                news = dict[str, Any](error="other", words=str(problem))
            if "error" in news:
                self._end()
                raise NotDownloaded(reason(model, news["error"], news["words"], done))
            done = news.get("bytes", done)
            if news:
                yield news

    def _end(self) -> None:
        if self._worker:
            self._worker.end()
        self._worker = None


def require_room(needed: int) -> None:
    """Raises NotDownloaded if the cache's disk has less than `needed` + ROOM_LEFT bytes free. If
    `needed` is 0, the disk is not checked."""
    if not needed:
        return
    free = disk_free()
    if needed + ROOM_LEFT > free:
        raise NotDownloaded(
            f"the download of {size(needed)} does not fit in {constants.HF_HUB_CACHE}: "
            f"{size(free)} is free, of which {size(ROOM_LEFT)} must stay free; "
            "free some space, or set HF_HOME to a folder on a larger disk"
        )


def disk_free() -> int:
    """Free bytes on the disk of the hub's cache."""
    place = Path(constants.HF_HUB_CACHE).expanduser().absolute()
    return shutil.disk_usage(
        next(folder for folder in (place, *place.parents) if folder.exists())
    ).free


def reason(model: str, kind: str, words: str, done: int) -> str:
    """A message that says what went wrong and often what to do. kind: from `error_kind` in
    download_worker.py. words: the original error. done: how many bytes are already on this
    machine."""
    page = f"https://huggingface.co/{model}"
    kept = f" {size(done)} is already here; the next download continues there." if done else ""
    known = {
        "gated": (
            f"{model} is gated, and the account of this machine has no access to it. Open {page}, "
            "log in, accept the licence and wait until access is granted; then log in on this "
            "machine too (`hf auth login`, or set HF_TOKEN) and load the model again."
        ),
        "missing": (
            f"the hub has no model {model!r}, or it is private and this machine is not logged in "
            "with an account that has access to it (`hf auth login`). Most names have the form "
            "owner/name; search for the model at https://huggingface.co/models."
        ),
        "network": (
            f"the Hugging Face hub cannot be reached for {model} ({words}). Check the connection "
            f"and the proxy, or give a local folder.{kept}"
        ),
    }
    return known.get(kind, f"{model} could not be downloaded ({words}).{kept}")


def is_here(model: str) -> bool:
    """Whether `model` is on this machine: as a folder, or complete in the hub's cache."""
    return Path(model).is_dir() or _cached(model) is not None


def _cached(model: str) -> Path | None:
    return cached(model, pinned_revision(model))


# -- the process that downloads --------------------------------------------------------------------


class WorkerEnded(Exception):
    """The process has ended. The text of the exception is the end of what the process printed
    besides its messages. If that is nothing, the text says that the process ended."""


class WorkerProcess:
    """A running script, until `end`. If this program ends first, the script reads the end of its
    input and must then exit. Messages in both directions are JSON objects, one per line.
    environment: variables added to those of this program."""

    def __init__(self, script: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **environment},
        )
        self._messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        # The last lines that are not JSON objects, such as a traceback.
        self._printed: deque[str] = deque(maxlen=5)
        threading.Thread(
            target=_read, args=(self._process, self._messages, self._printed), daemon=True
        ).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send `message` to the script. Does nothing if the process has ended."""
        with suppress(OSError):
            print(json.dumps(message), file=self._process.stdin, flush=True)

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The script's next message, None if there is none within `seconds`. Raises WorkerEnded
        once, when the process has ended and no messages are left."""
        try:
            message = self._messages.get(timeout=seconds)
        except Empty:
            return None
        if message is None:
            raise WorkerEnded(" ".join(self._printed)[-300:] or "its process ended")
        return message

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]


def _read(
    process: subprocess.Popen[str],
    messages: SimpleQueue[dict[str, Any] | None],
    printed: deque[str],
) -> None:
    """Put the script's messages into the queue `messages`, and other lines into `printed`. Finally
    put None into the queue: the process has ended."""
    for line in process.stdout or ():
        try:
            messages.put(json.loads(line))
        except ValueError:
            printed.append(line.strip())
    messages.put(None)
