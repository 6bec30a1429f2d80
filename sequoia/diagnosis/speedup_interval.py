"""How sure the speed-up of one run is: a range for it, from how much the pace changed along the
run. Measures nothing.

A run's pace changes with its text and with whatever else the machine does. Each run is cut into
about eight stretches of equally many tokens, and the jackknife (the pace with one stretch left out,
for each stretch in turn) gives the standard error of the logarithm of its pace; both runs' errors
add up as squares, and Student's t makes about 95 % of it. About, because neighbouring stretches are
not quite independent. It is the range of this text's speed-up, not of another prompt's.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

STRETCHES = 8
LEAST_STRETCHES = 3
# The point that Student's t with one degree of freedom less than there are stretches passes
# with a chance of 2.5 %.
_T = {3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}
Step = tuple[int, float]  # tokens, seconds


@dataclass(frozen=True)
class SpeedupInterval:
    """A speed-up with its range of about 95 %."""

    speedup: float
    least: float
    most: float

    @property
    def verdict(self) -> str:
        """ "faster", "slower", or "even" where the range includes 1: no clear difference."""
        return "faster" if self.least > 1 else "slower" if self.most < 1 else "even"


def speedup_interval(run: Iterable[Step], plain: Iterable[Step]) -> SpeedupInterval | None:
    """The speed-up of `run` over `plain`, (tokens, seconds) of each step, with its range; None
    where either is too short to be cut into LEAST_STRETCHES, or a clock stood still."""
    found = [_pace([*_stretches([*steps])]) for steps in (run, plain)]
    if None in found:
        return None
    (pace, error, count), (base, other, fewest) = found  # pyright: ignore[reportGeneralTypeIssues]
    wide = _T[min(count, fewest)] * math.hypot(error, other)
    return SpeedupInterval(
        math.exp(base - pace), math.exp(base - pace - wide), math.exp(base - pace + wide)
    )


def _stretches(steps: list[Step]) -> Iterator[Step]:
    """Tokens and seconds of each stretch; a stretch ends with the step that reaches its
    share of the tokens."""
    total = sum(n for n, _ in steps)
    tokens = 0
    seconds = 0.0
    made = 0
    cut = 1
    for n, time in steps:
        tokens = tokens + n
        seconds = seconds + time
        made = made + n
        if made * STRETCHES >= cut * total and tokens:
            yield tokens, seconds
            tokens = 0
            seconds = 0.0
            cut = made * STRETCHES // total + 1


def _pace(parts: list[Step]) -> tuple[float, float, int] | None:
    """Logarithm of seconds a token, its standard error, and the number of stretches."""
    tokens = sum(n for n, _ in parts)
    seconds = sum(time for _, time in parts)
    count = len(parts)
    if count < LEAST_STRETCHES or not all(seconds - time > 0 for _, time in parts):
        return None
    without = [math.log((seconds - time) / (tokens - n)) for n, time in parts]
    return math.log(seconds / tokens), math.sqrt((count - 1) * statistics.pvariance(without)), count
