"""What app.py does before its slow imports, and how the program ends. Imports only the standard
library.

The program ends with exit status 0 when it gets SIGTERM or SIGINT (Ctrl-C). A second signal ends
it at once. The process ends with `os._exit`: if Python shut down normally while a thread was
computing in torch, the process could abort with a core dump.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

SECONDS = 4.5  # time limit for sending every page its last message and closing
_MESSAGE_SECONDS = 1.2  # the part of SECONDS that the messages may take
_STACK = 2 * 1024 * 1024  # bytes of a thread's stack; the default is 8 MiB
_ARENA_MAX = -8  # glibc's M_ARENA_MAX
_AT_ONCE = 130  # exit status after a second signal; shells report Ctrl-C with it
_log = logging.getLogger(__name__)


class PortRefused(Exception):
    """The server cannot listen on the wanted host and port. The message says why."""


def require_port(host: str, port: int | None) -> None:
    """Raises PortRefused if no server can listen on `port` of `host`. None stands for any port."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host.strip("[]"), port or 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        socket.create_server(address[:2], family=family).close()
    except (OSError, UnicodeError) as problem:
        where = f"port {port} of {host[:80]}" if port else host[:80]
        reason = getattr(problem, "strerror", None) or problem
        raise PortRefused(
            f"cannot listen on {where}: {reason}; choose another --port or --host"
        ) from None


def use_little_memory() -> None:
    """Make threads reserve little memory. By default each reserves 8 MiB for its stack and 64 MiB
    for small objects. If a machine limits a program's address space, there would not be enough
    threads for many visitors."""
    threading.stack_size(_STACK)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # the C library is not glibc
            ctypes.CDLL(None).mallopt(_ARENA_MAX, 2)


class Shutdown:
    """Waits for a signal, then ends the process. clean_up: called before the end, but not after a
    second signal."""

    def __init__(self, clean_up: Callable[[], None]) -> None:
        self._clean_up = clean_up
        self._asked = threading.Event()
        self._waiting = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def wait_and_end(self, close: Callable[[], None]) -> None:
        """Wait for a signal, call `close` for at most `SECONDS`, and end the process."""
        self._waiting = True
        self._asked.wait()
        _log.info("stopping; press Ctrl-C again to stop at once")
        closing = threading.Thread(target=close, daemon=True)  # a failure ends only this thread
        closing.start()
        closing.join(SECONDS)
        self._end()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self._asked.is_set():
            os._exit(_AT_ONCE)
        self._asked.set()
        if not self._waiting:  # `wait_and_end` has not been called yet
            self._end()

    def _end(self) -> None:
        self._clean_up()
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def wait_until_sent(queue: Any) -> None:
    """Wait until the last message of every event in Gradio's `queue` has been sent, but for at most
    about _MESSAGE_SECONDS."""
    end = time.monotonic() + _MESSAGE_SECONDS
    # for each visitor, the ids of the events whose last message has not been sent yet
    while any(list(queue.pending_event_ids_session.values())) and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.1)  # for the message with which Gradio closes a page's stream
