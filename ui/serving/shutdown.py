"""Ends the program with exit status 0 when it gets SIGTERM or SIGINT (Ctrl-C). A second signal ends
it at once. Imports only the standard library, so that app.py can use it before its slow imports.

The process ends with `os._exit`: if Python shut down normally while a thread was computing in
torch, the process could abort with a core dump.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

# time limit for all of this together: finishing the running step, sending messages and closing
SECONDS = 4.5
STEP_SECONDS = 3.0  # the part of SECONDS that the running step may take
MESSAGE_SECONDS = 1.2  # the part of SECONDS that sending every page its last message may take
_AT_ONCE = 130  # exit status after a second signal; shells report Ctrl-C with it
_log = logging.getLogger(__name__)


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
