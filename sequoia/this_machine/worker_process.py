"""Runs a Python script in a process of its own. Messages in both directions are JSON objects, one
per line."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

START_SECONDS = 60.0


class WorkerEnded(Exception):
    """The process has ended. The text of the exception is the end of what the process printed
    besides its messages. If that is nothing, the text says that the process ended."""


class WorkerProcess:
    """A running script. Its process is killed when this object is deleted. If this program ends
    first, the script reads the end of its input and must then exit. environment: variables added to
    those of this program."""

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

    @classmethod
    def limited(cls, script: Path, environment: Mapping[str, str], more: int) -> WorkerProcess:
        """A script that has sent its first message, limited to `more` bytes of memory in addition
        to those it has then. Allocations beyond that fail as if no memory were left. Raises
        WorkerEnded if it does not start."""
        worker = cls(script, environment)
        if worker.receive(START_SECONDS) is None:
            worker.end()
            raise WorkerEnded(f"its process did not start within {START_SECONDS:g} s")
        pid = worker._process.pid
        with suppress(OSError):  # the process has ended
            statm = Path(f"/proc/{pid}/statm").read_text(encoding="ascii")
            most = int(statm.split()[0]) * resource.getpagesize() + more
            resource.prlimit(pid, resource.RLIMIT_AS, (most, most))
        return worker

    def send(self, message: Mapping[str, Any]) -> None:
        """Send `message` to the script. Does nothing if the process has ended."""
        line = json.dumps(message)
        # ValueError: `end` has closed the script's input
        with suppress(OSError, ValueError):
            print(line, file=self._process.stdin, flush=True)

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The script's next message, None if there is none within `seconds`. Raises WorkerEnded if
        the process has ended and no messages are left."""
        try:
            message = self._messages.get(timeout=seconds)
        except Empty:
            return None
        if message is None:
            self._messages.put(None)  # so that the next call raises too
            raise WorkerEnded(" ".join(self._printed)[-300:] or "its process ended")
        return message

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._process.stdin.close()  # pyright: ignore[reportOptionalMemberAccess]

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.end()


def _read(
    process: subprocess.Popen[str],
    messages: SimpleQueue[dict[str, Any] | None],
    printed: deque[str],
) -> None:
    """Put the script's messages into the queue `messages`, and other lines into `printed`. Finally
    put None into the queue: the process has ended."""
    with suppress(ValueError):  # raised if the pipe is closed while reading
        for line in process.stdout or ():
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict):
                messages.put(message)
            else:
                printed.append(line.strip())
    messages.put(None)
