"""One measurement of this machine in a thread of its own: it waits for its turn and can be stopped. Knows no page.

A measurement that is stopped or fails leaves the profile that was there as it is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import torch

from sequoia import SequoiaError, measure_profile

from .engine_room import EngineRoom
from .line import Left

SECONDS, ROUNDS = 28.0, 90
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Report:
    """How far it is: share done, 0 to 1, and words. `over`: it has ended; `error`: why, where it failed."""

    share: float
    words: str
    over: bool = False
    error: str | None = None


class Measurement:
    """Measures once. It holds nothing afterwards, so that a session keeps it like a run that has ended."""

    def __init__(self, room: EngineRoom, seconds: float = SECONDS) -> None:
        self._room, self._seconds = room, seconds
        self._halt, self._mail, self._busy = threading.Event(), SimpleQueue[Report](), False
        self.done = False  # a new profile was measured

    @property
    def busy(self) -> bool:
        return self._busy

    @property
    def holding(self) -> bool:
        return False

    def start(self, steps: int | None = None) -> None:  # noqa: ARG002  the name is the session's
        """Begin in the background."""
        self._busy = True
        threading.Thread(target=self._work, name="measurement", daemon=True).start()

    def halt(self) -> None:
        """Stop after the present passes."""
        self._halt.set()

    def release(self) -> None:
        self.halt()

    def reports(self) -> Iterator[Report]:
        """Reports until the end, each the newest at its time."""
        while True:
            report = self._mail.get()
            with suppress(Empty):
                while not report.over:
                    report = self._mail.get_nowait()
            yield report
            if report.over:
                return

    # -- in the thread ---------------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        ended = Report(0, "", True, "the measurement broke off by an unexpected error; the server's log has the details")
        try:
            self._measure()
            self.done, ended = True, Report(1, "", True)
        except Left:
            ended = Report(0, "stopped; the profile that was there is kept", True)
        except SequoiaError as problem:
            ended = Report(0, "", True, str(problem))
        except (torch.OutOfMemoryError, MemoryError):
            ended = Report(0, "", True, "out of memory; the profile that was there is kept")
        except Exception:
            _log.exception("a measurement failed")
        finally:
            self._busy = False
            self._mail.put(ended)

    def _measure(self) -> None:
        self._mail.put(Report(0, "waiting for the models"))
        with self._room.turn(self._halt.is_set, self._tell_place) as pair:
            profile = measure_profile(pair, seconds=self._seconds, rounds=ROUNDS, progress=self._progress)
            pair.measured["profile"] = profile

    def _progress(self, share: float) -> None:
        if self._halt.is_set():
            raise Left
        words = "timing passes of both models in turns" if share < 0.8 else "timing the engine's own overhead"
        self._mail.put(Report(share, words))

    def _tell_place(self, before: int) -> None:
        self._mail.put(Report(0, f"{before} {'run' if before == 1 else 'runs'} before yours; it begins by itself"))
