"""How many times as fast a run is as another, usually as plain decoding, and whether that is more
than chance. Every view shows this one result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sequoia.diagnosis.race_verdict.compare_pair import bounded_exp, compare_pair
from sequoia.diagnosis.race_verdict.lane_runs import LaneRuns

Code = Literal["win", "slower", "no_clear_difference"]


@dataclass(frozen=True)
class Speedup:
    """ratio: pace (tokens per second) of the run over that of the other.

    low, high: the ends of the confidence interval of `ratio`; None if the runs are too short for
    one. code: "win" if the interval lies above 1, "slower" if it lies below 1.
    """

    ratio: float
    low: float | None = None
    high: float | None = None

    @property
    def code(self) -> Code:
        if self.low is not None and self.low > 1:
            return "win"
        if self.high is not None and self.high < 1:
            return "slower"
        return "no_clear_difference"

    def to_dict(self) -> dict[str, float | str | None]:
        """The fields and `code`, as JSON values."""
        return {"code": self.code, "ratio": self.ratio, "low": self.low, "high": self.high}


def speedup(run: LaneRuns, plain: LaneRuns) -> Speedup:
    """The speed-up of `run` over `plain`, with its 95% confidence interval, over all races in which
    both ran. Both must have at least one step that took more than 0 seconds."""
    found = compare_pair(run, plain)
    if found is None:
        return Speedup(run.tokens / run.seconds * plain.seconds / plain.tokens)
    return Speedup(bounded_exp(found.pace), *found.intervals()[0])
