"""A 95% confidence interval for the speed-up of one run over a run of plain decoding, computed from
the tokens and seconds of their steps.

A run's pace varies with its text and with what else the machine is doing. Each of the two runs is
cut into up to eight segments of about equally many tokens. The jackknife (the pace without one
segment, for each segment in turn) gives the standard error of the logarithm of each pace. The
squared errors of the two runs are added. The root of the sum, times a quantile of Student's t, is
half the width of the interval for the logarithm of the speed-up. The interval is approximate,
because neighbouring segments are not quite independent. It holds for this text, not for other
prompts.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SEGMENTS = 8
LEAST_SEGMENTS = 3
# 97.5% quantiles of Student's t, by the number of segments (one more than the degrees of freedom)
_T = {3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365}
Step = tuple[int, float]  # tokens, seconds


@dataclass(frozen=True)
class SpeedupInterval:
    """A speed-up and its 95% confidence interval (approximate), from `least` to `most`."""

    speedup: float
    least: float
    most: float

    @property
    def verdict(self) -> str:
        """Whether the run is clearly "faster" or "slower". "even" if the interval includes 1."""
        return "faster" if self.least > 1 else "slower" if self.most < 1 else "even"


def speedup_interval(run: Iterable[Step], plain: Iterable[Step]) -> SpeedupInterval | None:
    """The speed-up of `run` over `plain`, both given as (tokens, seconds) of each step, with its
    confidence interval. None if either of them gives fewer than LEAST_SEGMENTS segments, or at most
    one segment that took more than 0 seconds."""
    found = [_log_time_per_token([*_segments([*steps])]) for steps in (run, plain)]
    if None in found:
        return None
    (time, error, count), (plain_time, plain_error, plain_count) = found  # pyright: ignore[reportGeneralTypeIssues]
    gain = plain_time - time
    reach = _T[min(count, plain_count)] * math.hypot(error, plain_error)
    return SpeedupInterval(math.exp(gain), math.exp(gain - reach), math.exp(gain + reach))


def _segments(steps: list[Step]) -> Iterator[Step]:
    """(tokens, seconds) of each segment. A segment ends with the step in which the tokens so far
    reach the next multiple of 1 / SEGMENTS of all tokens."""
    total = sum(n for n, _ in steps)
    tokens = 0
    seconds = 0.0
    made = 0
    cut = 1
    for n, time in steps:
        tokens += n
        seconds += time
        made += n
        if made * SEGMENTS >= cut * total and tokens:
            yield tokens, seconds
            tokens = 0
            seconds = 0.0
            cut = made * SEGMENTS // total + 1


def _log_time_per_token(parts: list[Step]) -> tuple[float, float, int] | None:
    """The logarithm of a run's seconds per token, the standard error of this logarithm, and the
    number of segments. parts: the segments. None under the conditions that `speedup_interval`
    describes."""
    tokens = sum(n for n, _ in parts)
    seconds = sum(time for _, time in parts)
    count = len(parts)
    if count < LEAST_SEGMENTS or not all(seconds - time > 0 for _, time in parts):
        return None
    without = [math.log((seconds - time) / (tokens - n)) for n, time in parts]
    return math.log(seconds / tokens), math.sqrt((count - 1) * statistics.pvariance(without)), count
