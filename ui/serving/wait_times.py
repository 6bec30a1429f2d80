"""How long jobs take on this machine, learned from the recent ones of their kind, and how long a
visitor waits for those ahead. Independent of models.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

RECENT = 40  # jobs of a kind that are remembered
_FADING = 0.95  # weight of a job relative to the next one of its kind
_GUESS_WEIGHT = 0.3  # of the guess made without any timed job, relative to a timed job
_SAME = 0.01  # if lengths vary by less (squared, relative), time is proportional to length
_TRUST = 2.0  # once half of a job is done, only its own pace counts
_OVERDUE = 0.1  # an overdue job takes this much longer, as a share of its time so far


@dataclass(frozen=True)
class Demand:
    """What a job asks of the models. kind: jobs of one kind take about as long for each
    token. tokens: the most that it decodes; 0 if its time does not depend on tokens. limit: the
    most seconds that it takes."""

    kind: str = "run"
    tokens: float = 0.0
    limit: float = 60.0


@dataclass(frozen=True)
class Wait:
    """How many jobs are ahead of a visitor, and how many seconds they are expected to take."""

    ahead: int
    seconds: float

    @property
    def words(self) -> str:
        """For example "2 runs ahead of you, about 45 seconds"."""
        runs = f"{self.ahead} run{'s' * (self.ahead != 1)}"
        return f"{runs} ahead of you, {duration_words(self.seconds)}"


NOTHING: Mapping[str, Any] = MappingProxyType({})  # ahead of a visitor who does not wait


def wait_field(wait: Wait | None) -> dict[str, Any]:
    """The field of a message that says what is ahead; none if the visitor does not wait."""
    if wait is None:
        return {}
    return {"wait": {"ahead": wait.ahead, "seconds": round(wait.seconds, 1)}}


def duration_words(seconds: float) -> str:
    """A predicted duration, rounded by at most an eighth: "about 7 seconds", "about 2.5
    minutes"."""
    if seconds < 4.5:
        return "a few seconds"
    if seconds < 17.5:
        return f"about {round(seconds)} seconds"
    if seconds < 57.5:
        return f"about {5 * round(seconds / 5)} seconds"
    if seconds < 105:
        return "about a minute" if seconds < 75 else "about 1.5 minutes"
    minutes = round(seconds / 30) / 2 if seconds < 285 else round(seconds / 60)
    return f"about {minutes:g} minutes"


class WaitTimes:
    """What recent jobs took. `token_seconds`: of one token of plain decoding, for a kind of job
    that has not been timed yet. All methods are thread-safe."""

    def __init__(self, token_seconds: float = 0.03) -> None:
        self.token_seconds = token_seconds
        self._lock = threading.Lock()
        self._seen: defaultdict[str, deque[tuple[float, float]]] = _no_jobs()

    def learn(self, demand: Demand, seconds: float) -> None:
        """Learn from a job that took `seconds` and was not stopped."""
        with self._lock:
            self._seen[demand.kind].append((demand.tokens, seconds))

    def forget(self, token_seconds: float) -> None:
        """Start over: other models are served, and their times differ."""
        with self._lock:
            self.token_seconds = token_seconds
            self._seen = _no_jobs()

    def expected(self, demand: Demand) -> float:
        """Seconds that a job will take: read from the weighted least-squares line of seconds over
        tokens through the recent jobs of its kind. Its slope and intercept are never negative."""
        guess = demand.tokens * self.token_seconds if demand.tokens else demand.limit
        with self._lock:
            seen = list(self._seen[demand.kind])
        points = [(demand.tokens, min(guess, demand.limit), _GUESS_WEIGHT)]
        points += [(*one, _FADING**age) for age, one in enumerate(reversed(seen))]
        return min(_on_line(points, demand.tokens), demand.limit)

    def remaining(self, demand: Demand, elapsed: float, share: float) -> float:
        """Seconds that a job still takes after `elapsed`. share: of its work that is done, from 0
        to 1; 0 if unknown."""
        expected = self.expected(demand)
        if share > 0:
            trust = min(1.0, _TRUST * share)
            expected += trust * (elapsed / share - expected)
        return max(min(expected, demand.limit) - elapsed, _OVERDUE * elapsed)


def _no_jobs() -> defaultdict[str, deque[tuple[float, float]]]:
    return defaultdict(lambda: deque(maxlen=RECENT))


def _on_line(points: list[tuple[float, float, float]], at: float) -> float:
    """The line through `points`, each (tokens, seconds, weight), at `at` tokens."""
    total = sum(weight for _, _, weight in points)
    tokens = sum(weight * one for one, _, weight in points) / total
    seconds = sum(weight * one for _, one, weight in points) / total
    spread = sum(weight * (one - tokens) ** 2 for one, _, weight in points)
    together = sum(weight * (x - tokens) * (y - seconds) for x, y, weight in points)
    steepest = seconds / tokens if tokens else 0.0
    slope = min(max(together / spread, 0.0), steepest) if spread > _SAME * tokens**2 else steepest
    return seconds + slope * (at - tokens)
