"""Means and ratios over prompts, with 95% confidence intervals (Student's t). Ratios are paired:
both lanes ran on the same prompts, so the difficulty of a prompt mostly cancels."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sequoia.diagnosis.student_t import critical_value
from sequoia.experiments.result import Estimate, Ratio

LEVEL = 0.05


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of `values`, one for each prompt."""
    mean = statistics.fmean(values)
    reach = _reach(values)
    ends = (None, None) if reach is None else (_short(mean - reach), _short(mean + reach))
    return Estimate(_short(mean), *ends, len(values))


def ratio_of(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """The mean of `ours` divided by that of `theirs`. All values must be positive. The interval is
    computed for the logarithm of the ratio (delta method)."""
    their_mean = statistics.fmean(theirs)
    ratio = statistics.fmean(ours) / their_mean
    pairs = zip(ours, theirs, strict=True)
    reach = _reach([(one / ratio - other) / their_mean for one, other in pairs])
    if reach is None:
        return Estimate(_short(ratio), prompts=len(ours))
    ends = (_short(ratio * math.exp(-reach)), _short(ratio * math.exp(reach)))
    return Estimate(_short(ratio), *ends, len(ours))


@dataclass(frozen=True)
class Score:
    """In how many of `total` ratios the first lane is clearly higher or clearly lower: the 95%
    interval is wholly above or below 1."""

    higher: int
    lower: int
    total: int

    @property
    def unclear(self) -> int:
        return self.total - self.higher - self.lower


def score(ratios: Iterable[Ratio]) -> Score:
    found = [one.ratio for one in ratios]
    higher = sum(one.low is not None and one.low > 1 for one in found)
    lower = sum(one.high is not None and one.high < 1 for one in found)
    return Score(higher, lower, len(found))


def scores(ratios: Iterable[Ratio]) -> dict[tuple[str, str], Score]:
    """The score of each pair of lanes."""
    by_lanes = dict[tuple[str, str], list[Ratio]]()
    for one in ratios:
        by_lanes.setdefault((one.one, one.other), []).append(one)
    return {lanes: score(some) for lanes, some in by_lanes.items()}


def _reach(values: Sequence[float]) -> float | None:
    """Half the width of the 95% confidence interval of the mean (None for a single value)."""
    if len(values) < 2:
        return None
    error = statistics.stdev(values) / math.sqrt(len(values))
    return critical_value(LEVEL, len(values) - 1) * error


def _short(value: float) -> float:
    """`value` to five significant digits."""
    return float(f"{value:.5g}")
