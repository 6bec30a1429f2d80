"""A queue of visitors who share one engine: first come, first served, but the server's owner goes
first. Independent of models."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from sequoia import SequoiaError
from sequoia.algorithm.progress import ShouldStop

# -- how long jobs take, from recent jobs of the same kind -----------------------------------------


RECENT = 40  # jobs of a kind that are remembered
_TRUST = 2.0  # once half of a job (1 / _TRUST) is done, only its own pace counts
_OVERDUE = 0.1  # a job is expected to still need at least this fraction of its time so far


@dataclass(frozen=True)
class Demand:
    """The size of a job. kind: jobs of the same kind take about the same time per token. tokens:
    the most tokens that the job decodes or, for some kinds, its number of steps or samples; 0 if
    its time does not depend on such a number. limit: the most seconds that are predicted for
    it."""

    kind: str = "run"
    tokens: float = 0.0
    limit: float = 60.0


@dataclass(frozen=True)
class Wait:
    """How many jobs are ahead of a visitor, and how many seconds they are expected to take."""

    ahead: int
    seconds: float

    def words(self, what: str = "yours") -> str:
        """For example "2 runs ahead of you, about 45 seconds; yours starts automatically". what:
        the visitor's work, which starts when the wait is over."""
        runs = f"{self.ahead} run{'s' * (self.ahead != 1)}"
        wait = duration_words(self.seconds)
        return f"{runs} ahead of you, {wait}; {what} starts automatically"


def wait_field(wait: Wait | None) -> dict[str, Any]:
    """The field of a message that describes the jobs ahead. No field if the visitor does not
    wait."""
    if wait is None:
        return {}
    return {"wait": {"ahead": wait.ahead, "seconds": round(wait.seconds, 1)}}


def duration_words(seconds: float) -> str:
    """A predicted duration in words: "about 7 seconds", "about 2.5 minutes"."""
    if seconds < 4.5:
        return "a few seconds"
    if seconds < 57.5:
        step = 1 if seconds < 17.5 else 5
        return f"about {step * round(seconds / step)} seconds"
    minutes = round(seconds / 30) / 2 if seconds < 285 else round(seconds / 60)
    return f"about {minutes:g} minute{'s' * (minutes > 1)}"


class WaitTimes:
    """The durations of recent jobs. token_seconds: the time of one token of plain decoding, used
    for the first guess at a kind of job. All methods are thread-safe."""

    def __init__(self, token_seconds: float = 0.03) -> None:
        self.token_seconds = token_seconds
        self._lock = threading.Lock()
        self._seen: defaultdict[str, deque[tuple[float, float]]] = _no_jobs()

    def learn(self, demand: Demand, seconds: float) -> None:
        """Learn from a job that took `seconds` and was not stopped."""
        with self._lock:
            self._seen[demand.kind].append((demand.tokens, seconds))

    def forget(self, token_seconds: float) -> None:
        """Forget all jobs, because other models are served now."""
        with self._lock:
            self.token_seconds = token_seconds
            self._seen = _no_jobs()

    def expected(self, demand: Demand) -> float:
        """Seconds that a job will take, at most its limit: in proportion to the recent jobs of its
        kind, or guessed from the time of a token if there are none."""
        with self._lock:
            seen = list(self._seen[demand.kind])
        if not seen:
            return min(demand.tokens * self.token_seconds or demand.limit, demand.limit)
        tokens, seconds = map(fmean, zip(*seen, strict=True))
        return min(seconds * demand.tokens / tokens if tokens else seconds, demand.limit)

    def remaining(self, demand: Demand, elapsed: float, share: float) -> float:
        """Seconds that a job still needs after `elapsed` seconds. share: the fraction of its work
        that is done, from 0 to 1, or 0 if unknown."""
        expected = self.expected(demand)
        if share > 0:
            trust = min(1.0, _TRUST * share)
            expected += trust * (elapsed / share - expected)
        return max(min(expected, demand.limit) - elapsed, _OVERDUE * elapsed)


def _no_jobs() -> defaultdict[str, deque[tuple[float, float]]]:
    return defaultdict(lambda: deque(maxlen=RECENT))


# -- the queue -------------------------------------------------------------------------------------


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
