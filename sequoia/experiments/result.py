"""The result of an experiment as numbers and codes: estimates by lane and place, and ratios of two
lanes at the same place. A place is a point of the experiment's grid."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sequoia.checked_types import sentence
from sequoia.diagnosis.student_t import critical_value
from sequoia.errors import BadTrace

At = dict[str, str | int | float]


class Estimate(NamedTuple):
    """A mean over `prompts` prompts, or a ratio of two such means. low, high: the ends of its 95%
    confidence interval, None if there is none (as for a single prompt)."""

    mean: float
    low: float | None = None
    high: float | None = None
    prompts: int = 0


class Finite(BaseModel):
    """Values that cannot be changed and contain no infinity or NaN."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Row(Finite):
    """What was measured in one lane (a decoder) at one place. at: the place, by axis, such as
    {"kind": "code", "nodes": 16}. about: what is known of the lane there, such as its tree's nodes.
    figures: estimates by name, such as "tokens" (per step)."""

    lane: str
    at: At
    about: At = Field(default_factory=dict)
    figures: dict[str, Estimate]


class Ratio(Finite):
    """The mean of the lane `one` divided by that of the lane `other`, on the same prompts at the
    same place. The interval is paired."""

    one: str
    other: str
    at: At
    ratio: Estimate


class ExperimentResult(Finite):
    """A result. It covers `done` of the `total` units of work.

    label: where the measured numbers come from. date: year-month-day. machine: a description in
    words. settings: plain JSON values.
    """

    format: Literal["sequoia-experiment"] = "sequoia-experiment"
    version: Literal[2] = 2
    name: str
    label: Literal["measured", "recorded"] = "measured"
    date: str = ""
    target: str = ""
    draft: str = ""
    machine: str = ""
    settings: dict[str, Any]
    rows: tuple[Row, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    done: int
    total: int

    @property
    def is_complete(self) -> bool:
        return self.done == self.total

    @classmethod
    def from_json(cls, text: str | bytes) -> ExperimentResult:
        """The result that `model_dump_json` turned into `text`. Raises BadTrace if `text` is
        anything else."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as problem:
            raise BadTrace(f"not the result of an experiment: {sentence(problem)}") from None


# -- means and ratios over prompts, with 95% confidence intervals (Student's t). Ratios are paired:
# both lanes ran on the same prompts, so the difficulty of a prompt mostly cancels.


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
