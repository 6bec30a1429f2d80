"""Predicts how long jobs take on this machine, from recent jobs of the same kind. Independent of
the models."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from dataclasses import dataclass
from statistics import fmean
from typing import Any

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
