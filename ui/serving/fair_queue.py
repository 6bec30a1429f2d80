"""A first-come, first-served queue of visitors for one engine. Independent of models."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sequoia.algorithm.progress import ShouldStop
from ui.serving.sessions import Busy
from ui.serving.wait_times import Demand, Wait, WaitTimes, duration_words

_LOOK_SECONDS = 0.2
# At least so often a visitor hears how long it still takes: a page that hears nothing asks.
_REPORT_SECONDS = 3.0
# Called with what is ahead: at first, at each change, and every few seconds.
OnWait = Callable[[Wait], None]


class Cancelled(Exception):
    """The visitor left the queue before their turn."""


def wait_words(wait: Wait, what: str = "yours") -> str:
    """How long a visitor waits, in words; `what` starts after that."""
    return f"{wait.words}; {what} starts automatically"


def _unknown_share() -> float:
    return 0.0


@dataclass(frozen=True, eq=False)
class Work:
    """What waits for the engine or uses it. share: of the work that is done, from 0 to 1. job: if
    it is one. returns: it was served before and comes again for a further part, so it is never
    refused."""

    demand: Demand = field(default_factory=Demand)
    share: Callable[[], float] = _unknown_share
    job: Any = None
    returns: bool = False


@dataclass(eq=False)
class _Ticket:
    """began: when it became the first in the queue, so that the time until its work starts counts
    as part of it: those behind wait for that too."""

    work: Work
    began: float = 0.0


class FairQueue:
    """First come, first served: the first in the queue has the engine. The queue holds at most
    `most`, the running one included. `times` learns how long the work takes."""

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
    def current(self) -> Work | None:
        """The work that has the engine."""
        with self._changed:
            return self._tickets[0].work if self._tickets else None

    @contextmanager
    def turn(
        self, should_stop: ShouldStop, on_wait: OnWait, work: Work | None = None
    ) -> Iterator[None]:
        """Wait for the turn and hold it. `on_wait` is called with what is ahead: at first, at each
        change, and every few seconds.

        Raises Cancelled once `should_stop` returns True, and Busy if the queue is full.
        """
        ticket = _Ticket(work or Work())
        self._enter(ticket)
        try:
            self._wait(ticket, should_stop, on_wait)
            yield
            if not should_stop():
                self.times.learn(ticket.work.demand, self._clock() - ticket.began)
        finally:
            with self._changed:
                self._tickets.remove(ticket)
                if self._tickets:
                    self._tickets[0].began = self._clock()
                self._changed.notify_all()

    def _enter(self, ticket: _Ticket) -> None:
        with self._changed:
            if len(self._tickets) >= self._most and not ticket.work.returns:
                raise Busy(self._full_words())
            self._tickets.append(ticket)
            if len(self._tickets) == 1:
                ticket.began = self._clock()

    def _full_words(self) -> str:
        waiting = len(self._tickets)
        words = duration_words(self._seconds_before(waiting))
        return f"{waiting} runs are waiting already, {words}; try again later"

    def _wait(self, ticket: _Ticket, should_stop: ShouldStop, on_wait: OnWait) -> None:
        reported = 0
        reported_at = 0.0
        with self._changed:
            while (ahead := self._tickets.index(ticket)) > 0:
                if should_stop():
                    raise Cancelled
                now = time.monotonic()
                if ahead != reported or now - reported_at >= _REPORT_SECONDS:
                    on_wait(Wait(ahead, self._seconds_before(ahead)))
                    reported = ahead
                    reported_at = now
                self._changed.wait(_LOOK_SECONDS)

    def _seconds_before(self, place: int) -> float:
        """Seconds until the visitor at `place` is served. The lock is held."""
        if place == 0:
            return 0.0
        first, *others = list(self._tickets)[:place]
        elapsed = self._clock() - first.began
        work = first.work
        seconds = self.times.remaining(work.demand, elapsed, work.share())
        return seconds + sum(self.times.expected(one.work.demand) for one in others)
