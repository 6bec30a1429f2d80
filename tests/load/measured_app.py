"""The app in its own process, with its use of memory, threads and files."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "browser"))

from running_app import App

MB = 1e6


@dataclass(frozen=True)
class Taken:
    """What the app uses at one moment. memory: resident bytes, including those of its child
    processes. threads, files: the app's threads and open file descriptors, without those of child
    processes."""

    memory: int
    threads: int
    files: int


class MeasuredApp(App):
    """`python app.py` with its output in `lines`."""

    def __init__(self, *flags: str, **changes: Any) -> None:
        super().__init__(*flags, **changes)
        self.lines: list[str] = []
        self._seen = psutil.Process(self.process.pid)
        # reads the app's output, because the app would block once the pipe is full
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        self.lines.extend(self.process.stdout)

    def stop(self) -> str:
        self.process.terminate()
        self.process.wait(timeout=20)
        return "".join(self.lines)

    def await_models(self, seconds: float = 600) -> None:
        """Wait until runs can start."""
        end = time.monotonic() + seconds
        while not any("models ready" in line for line in self.lines):
            assert self.process.poll() is None, "".join(self.lines)
            assert time.monotonic() < end, "the models were not loaded in time"
            time.sleep(0.1)

    def taken(self) -> Taken:
        memory = 0
        for process in [self._seen, *self._seen.children(recursive=True)]:
            with suppress(psutil.Error):  # a child that has just ended
                memory += process.memory_info().rss
        return Taken(memory, self._seen.num_threads(), self._seen.num_fds())

    @contextmanager
    def watched(self, every: float = 0.05) -> Iterator[list[tuple[float, int]]]:
        """A list of (time in seconds, bytes of memory) that grows while the context lasts."""
        points: list[tuple[float, int]] = []
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(every):
                with suppress(psutil.Error):
                    points.append((time.monotonic(), self.taken().memory))

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield points
        finally:
            ended.set()
            thread.join()
