"""Means and ratios over prompts, with 95% confidence intervals (Student's t). Ratios are paired:
both methods ran on the same prompts, so the difficulty of a prompt mostly cancels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sequoia.diagnosis.race_verdict.student_t import critical_value
from sequoia.experiments.result import Comparison, Point

LEVEL = 0.05


def point(x: float, values: Sequence[float]) -> Point:
    """The point at `x`: the mean of `values`, one value for each prompt, with its interval."""
    mean, reach = _mean(values)
    if reach is None:
        return Point(_short(x), _short(mean), prompts=len(values))
    ends = (_short(mean - reach), _short(mean + reach))
    return Point(_short(x), _short(mean), *ends, len(values))


def comparison(text: str, ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """The ratio of two methods' means over prompts: ours / theirs. All values must be positive. The
    interval is computed for the logarithm of the ratio (delta method)."""
    their_mean = statistics.fmean(theirs)
    ratio = statistics.fmean(ours) / their_mean
    pairs = zip(ours, theirs, strict=True)
    _, reach = _mean([(one / ratio - other) / their_mean for one, other in pairs])
    if reach is None:
        return Comparison(text, _short(ratio))
    ends = (_short(ratio * math.exp(-reach)), _short(ratio * math.exp(reach)))
    return Comparison(text, _short(ratio), *ends)


@dataclass(frozen=True)
class Score:
    """In how many of `total` comparisons the first method is clearly higher or clearly lower: the
    95% interval is wholly above or below 1."""

    higher: int
    lower: int
    total: int

    @property
    def unclear(self) -> int:
        return self.total - self.higher - self.lower


def score(comparisons: Sequence[Comparison]) -> Score:
    higher = sum(one.low is not None and one.low > 1 for one in comparisons)
    lower = sum(one.high is not None and one.high < 1 for one in comparisons)
    return Score(higher, lower, len(comparisons))


def _mean(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean, and half the width of its 95% confidence interval (None for a single value)."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    error = statistics.stdev(values) / math.sqrt(len(values))
    return mean, critical_value(LEVEL, len(values) - 1) * error


def _short(value: float) -> float:
    """`value` to five significant digits."""
    return float(f"{value:.5g}")
