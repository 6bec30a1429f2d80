"""What app.py does before its slow imports, and how the program ends. Imports only the standard
library.

The program ends with exit status 0 when it gets SIGTERM or SIGINT (Ctrl-C). A second signal ends
it at once. The process ends with `os._exit`: if Python shut down normally while a thread was
computing in torch, the process could abort with a core dump.
"""

from __future__ import annotations

import ctypes
import errno
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
from typing import Protocol

# time limit for all of this together: finishing the running step, sending messages and closing
SECONDS = 4.5
STEP_SECONDS = 3.0  # the part of SECONDS that the running step may take
MESSAGE_SECONDS = 1.2  # the part of SECONDS that sending every page its last message may take
_STACK = 2 * 1024 * 1024  # bytes of a thread's stack; the default is 8 MiB
_ARENA_MAX = -8  # glibc's M_ARENA_MAX
_AT_ONCE = 130  # exit status after a second signal; shells report Ctrl-C with it
_log = logging.getLogger(__name__)


class PortRefused(Exception):
    """The server cannot listen on the wanted host and port. The message says why."""


def wanted_port(given: int | None) -> int | None:
    """The port given by --port, else by GRADIO_SERVER_PORT. None means the first free port from
    7860 up. Raises PortRefused if there is no --port and GRADIO_SERVER_PORT is not a port."""
    text = os.environ.get("GRADIO_SERVER_PORT", "")
    if given is not None or not text:
        return given
    is_short_number = text.isascii() and text.isdigit() and len(text) <= 5
    if not is_short_number or not 0 < int(text) < 65536:
        raise PortRefused(f"GRADIO_SERVER_PORT={text[:40]} is not a port from 1 to 65535")
    return int(text)


def require_port(host: str, port: int | None) -> None:
    """Raises PortRefused if no server can listen on `port` of `host`. If `port` is None, only
    `host` is checked."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port or 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as trial:
            if os.name == "posix":  # on Windows this option would allow two servers on one port
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except UnicodeError:
        raise PortRefused(f"{host[:80]!r} is not the name or address of a host") from None
    except OSError as problem:
        raise PortRefused(_reason(host, port, problem)) from None


def _reason(host: str, port: int | None, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        return (
            f"port {port} is in use by another program; choose another one with --port, or leave "
            "--port and GRADIO_SERVER_PORT out to get a free one"
        )
    if problem.errno == errno.EACCES:
        return (
            f"this user has no permission to listen on port {port}; choose a port from 1024 up "
            "with --port"
        )
    return f"--host {host} is not an address of this machine ({problem.strerror})"


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
        while not self._asked.wait(1):  # on Windows a wait without a limit ignores Ctrl-C
            pass
        _log.info("stopping; press Ctrl-C again to stop at once")
        closing = threading.Thread(target=_logged, args=(close,), daemon=True)
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


def _logged(close: Callable[[], None]) -> None:
    try:
        close()
    except Exception:
        _log.exception("an error occurred while the server was stopping")


class Queue(Protocol):
    """The part of `gradio.queueing.Queue` that is used here. pending_event_ids_session: for each
    visitor, the ids of the events whose last message has not been sent yet."""

    pending_event_ids_session: dict[str, set[str]]


def wait_until_sent(queue: Queue, seconds: float) -> bool:
    """Wait until the last message of every event in `queue` has been sent, but for at most about
    `seconds`. Returns whether all have been sent."""
    end = time.monotonic() + seconds
    while unsent := any(list(queue.pending_event_ids_session.values())):
        if time.monotonic() > end:
            break
        time.sleep(0.02)
    time.sleep(0.1)  # for the message with which Gradio closes a page's stream
    return not unsent
