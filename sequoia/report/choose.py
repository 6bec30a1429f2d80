"""Chooses the stages to run in a given time: those with the greatest total value that fit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sequoia.report.stage import Stage


def chosen(stages: Sequence[Stage], seconds: float) -> list[Stage]:
    """The subset of `stages` that fits into `seconds` and has the greatest total value, most
    valuable stage first. The expected time of each stage is rounded up to whole seconds."""
    if math.isinf(seconds) or sum(map(_whole_seconds, stages)) <= seconds:
        return sorted(stages, key=lambda one: -one.value)
    return sorted(_best(stages, max(int(seconds), 0)), key=lambda one: -one.value)


def _best(stages: Sequence[Stage], seconds: int) -> tuple[Stage, ...]:
    """The best choice for `seconds`: a 0/1 knapsack problem, solved exactly."""
    # best[t]: (total value, stages) of the best choice for t seconds
    best: list[tuple[int, tuple[Stage, ...]]] = [(0, ())] * (seconds + 1)
    for stage in stages:
        cost = _whole_seconds(stage)
        for time in range(seconds, cost - 1, -1):
            value, others = best[time - cost]
            if value + stage.value > best[time][0]:
                best[time] = value + stage.value, (*others, stage)
    return best[seconds][1]


def _whole_seconds(stage: Stage) -> int:
    return math.ceil(stage.seconds)
