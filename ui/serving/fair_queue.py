"""A queue of visitors who share one engine: first come, first served, but the server's owner goes
first. Independent of models."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sequoia import SequoiaError
from sequoia.algorithm.progress import ShouldStop
from ui.serving.wait_times import Demand, Wait, WaitTimes, duration_words

_LOOK_SECONDS = 0.2  # between two checks of `should_stop`
# Seconds between two reports of the remaining wait. A page that hears nothing for 5 seconds (see
# job_watch.js) asks the server whether its job still exists.
_REPORT_SECONDS = 3.0
# Called while other jobs are ahead: at the start, when their number changes, and every few seconds.
OnWait = Callable[[Wait], None]


class Busy(SequoiaError):
    """A request is refused because the visitor or the visitor's address already has runs in
    progress, or because the server has no room."""


class Cancelled(Exception):
    """A job was stopped before it was done."""


@dataclass(eq=False)
class Work:
    """Work that waits for the engine or uses it. share: returns the fraction that is done, from 0
    to 1. job: the job that does the work, if there is one. returns: whether the job has had a turn
    since it was started. If so, a full queue does not refuse it. skips: whether it goes before all
    waiting work that does not, and is not refused either. yields: whether it lets all other work go
    first. began: when it became the first."""

    demand: Demand = field(default_factory=Demand)
    share: Callable[[], float] = lambda: 0.0
    job: Any = None
    returns: bool = False
    skips: bool = False
    yields: bool = False
    began: float = 0.0


class FairQueue:
    """The first work in the queue has the engine. `most`: the number of works, including the first,
    at which the queue is full. `times` learns how long the work takes."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._changed = threading.Condition()
        self._line: list[Work] = []
        self.times = WaitTimes()

    def __len__(self) -> int:
        return len(self._line)

    @property
    def awaited(self) -> bool:
        """Whether a visitor waits behind the one being served."""
        return len(self._line) > 1

    @property
    def current(self) -> Any:
        """The job that has the engine, or None."""
        with self._changed:
            return self._line[0].job if self._line else None

    @contextmanager
    def turn(
        self, should_stop: ShouldStop, on_wait: OnWait, work: Work | None = None
    ) -> Iterator[None]:
        """Wait for a turn, which lasts until the context ends. Calls `on_wait` while waiting.

        Raises Cancelled if `should_stop` returns True while waiting. Raises Busy if the queue is
        full, unless `work.returns`.
        """
        work = work or Work()
        self._enter(work)
        try:
            self._wait(work, should_stop, on_wait)
            yield
            if not should_stop():
                self.times.learn(work.demand, self._clock() - work.began)
        finally:
            self._leave(work)

    def _enter(self, work: Work) -> None:
        with self._changed:
            if len(self._line) >= self._most and not (work.returns or work.skips):
                raise Busy(self._full_words())
            self._line.insert(self._place(work), work)
            if len(self._line) == 1:
                work.began = self._clock()
            self._changed.notify_all()

    def _place(self, work: Work) -> int:
        """Where `work` belongs in the line. The first has the engine and keeps it."""
        if not self._line:
            return 0
        waiting = self._line[1:]
        if work.skips:
            return 1 + sum(one.skips for one in waiting)
        return len(self._line) if work.yields else 1 + sum(not one.yields for one in waiting)

    def _leave(self, work: Work) -> None:
        with self._changed:
            was_first = self._line[0] is work
            self._line.remove(work)
            if was_first and self._line:
                self._line[0].began = self._clock()
            self._changed.notify_all()

    def _full_words(self) -> str:
        waiting = len(self._line)  # including the one that has the engine
        words = duration_words(self._seconds_before(waiting))
        runs = "1 run is" if waiting == 1 else f"{waiting} runs are"
        return f"{runs} running or waiting already, which will take {words}; try again later"

    def _wait(self, work: Work, should_stop: ShouldStop, on_wait: OnWait) -> None:
        reported = 0
        reported_at = 0.0
        with self._changed:
            while (ahead := self._line.index(work)) > 0:
                if should_stop():
                    raise Cancelled
                now = self._clock()
                if ahead != reported or now - reported_at >= _REPORT_SECONDS:
                    on_wait(Wait(ahead, self._seconds_before(ahead)))
                    reported = ahead
                    reported_at = now
                self._changed.wait(_LOOK_SECONDS)

    def _seconds_before(self, place: int) -> float:
        """Predicted seconds until the visitor at `place`, counted from 0, is served. Call it with
        the lock held."""
        if place == 0:
            return 0.0
        first, *others = self._line[:place]
        elapsed = self._clock() - first.began
        seconds = self.times.remaining(first.demand, elapsed, first.share())
        return seconds + sum(self.times.expected(one.demand) for one in others)
