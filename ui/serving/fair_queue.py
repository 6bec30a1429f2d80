"""A queue of visitors who share one engine: first come, first served, but the server's owner goes
first. Independent of models."""

from __future__ import annotations

import threading
import time
from collections import deque
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


def wait_words(wait: Wait, what: str = "yours") -> str:
    """The wait in words. what: the visitor's work, which starts when the wait is over."""
    return f"{wait.words}; {what} starts automatically"


def _unknown_share() -> float:
    return 0.0


@dataclass(frozen=True, eq=False)
class Work:
    """Work that waits for the engine or uses it. share: returns the fraction that is done, from 0
    to 1. job: the job that does the work, if there is one. returns: whether the job has had a turn
    since it was started. If so, a full queue does not refuse it. skips: whether it goes before all
    waiting work that does not, and is not refused either."""

    demand: Demand = field(default_factory=Demand)
    share: Callable[[], float] = _unknown_share
    job: Any = None
    returns: bool = False
    skips: bool = False


@dataclass(eq=False)
class _Ticket:
    """A place in the queue. began: when this ticket became the first."""

    work: Work
    began: float = 0.0


class FairQueue:
    """The first ticket in the queue has the engine. `most`: the number of tickets, including the
    first, at which the queue is full. `times` learns how long the work takes."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._changed = threading.Condition()
        self._tickets: deque[_Ticket] = deque()
        self.times = WaitTimes()

    def __len__(self) -> int:
        return len(self._tickets)

    @property
    def awaited(self) -> bool:
        """Whether a visitor waits behind the one being served."""
        return len(self._tickets) > 1

    @property
    def current(self) -> Any:
        """The job that has the engine, or None."""
        with self._changed:
            return self._tickets[0].work.job if self._tickets else None

    @contextmanager
    def turn(
        self, should_stop: ShouldStop, on_wait: OnWait, work: Work | None = None
    ) -> Iterator[None]:
        """Wait for a turn, which lasts until the context ends. Calls `on_wait` while waiting.

        Raises Cancelled if `should_stop` returns True while waiting. Raises Busy if the queue is
        full, unless `work.returns`.
        """
        ticket = _Ticket(work or Work())
        self._enter(ticket)
        try:
            self._wait(ticket, should_stop, on_wait)
            yield
            if not should_stop():
                self.times.learn(ticket.work.demand, self._clock() - ticket.began)
        finally:
            self._leave(ticket)

    def _enter(self, ticket: _Ticket) -> None:
        with self._changed:
            work = ticket.work
            if len(self._tickets) >= self._most and not (work.returns or work.skips):
                raise Busy(self._full_words())
            self._tickets.insert(self._place(work), ticket)
            if len(self._tickets) == 1:
                ticket.began = self._clock()
            self._changed.notify_all()

    def _place(self, work: Work) -> int:
        """The place of a new ticket. The first ticket has the engine and keeps it."""
        before = sum(one.work.skips for one in list(self._tickets)[1:]) + 1
        return min(before, len(self._tickets)) if work.skips else len(self._tickets)

    def _leave(self, ticket: _Ticket) -> None:
        with self._changed:
            was_first = self._tickets[0] is ticket
            self._tickets.remove(ticket)
            if was_first and self._tickets:
                self._tickets[0].began = self._clock()
            self._changed.notify_all()

    def _full_words(self) -> str:
        waiting = len(self._tickets)  # including the one that has the engine
        words = duration_words(self._seconds_before(waiting))
        runs = "1 run is" if waiting == 1 else f"{waiting} runs are"
        return f"{runs} running or waiting already, which will take {words}; try again later"

    def _wait(self, ticket: _Ticket, should_stop: ShouldStop, on_wait: OnWait) -> None:
        reported = 0
        reported_at = 0.0
        with self._changed:
            while (ahead := self._tickets.index(ticket)) > 0:
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
        first, *others = list(self._tickets)[:place]
        elapsed = self._clock() - first.began
        work = first.work
        seconds = self.times.remaining(work.demand, elapsed, work.share())
        return seconds + sum(self.times.expected(one.work.demand) for one in others)
