"""A Python script run as a process of its own, spoken to in JSON, one object a line each way. It
can be ended at any time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any


class WorkerEnded(Exception):
    """The process has ended; the text is the last that it said."""


class WorkerProcess:
    """The running script. It ends with this object or this program, whatever it is doing."""

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
        self._printed: deque[str] = deque(
            maxlen=5
        )  # lines that are no objects: why it broke, for one
        threading.Thread(
            target=_read, args=(self._process, self._messages, self._printed), daemon=True
        ).start()

    def send(self, message: Mapping[str, Any]) -> None:
        with suppress(OSError):  # if it is gone, `receive` says so
            print(json.dumps(message), file=self._process.stdin, flush=True)

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next object it sends, or None if there is none for so long. Raises WorkerEnded."""
        try:
            heard = self._messages.get(timeout=seconds)
        except Empty:
            return None
        if heard is None:
            self._messages.put(None)
            raise WorkerEnded(" ".join(self._printed)[-300:] or "its process ended")
        return heard

    def limit_memory(self, more: int) -> None:
        """Where the system can: from now on an allocation of `more` bytes than it holds now fails,
        as if no memory were left."""
        pid = self._process.pid
        with suppress(ImportError, AttributeError, OSError, ValueError):
            import resource

            pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[0])
            most = pages * resource.getpagesize() + more
            resource.prlimit(pid, resource.RLIMIT_AS, (most, most))

    def end(self) -> None:
        """End it now."""
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
    with suppress(ValueError):  # closed while it was read
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
