"""Compares what the commands in this folder measure with their goals, and reports both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """name: what was counted or measured. found: the value, or NaN if there was nothing to measure.
    In that case, the goal is not reached. least, most: the limits for `found`. note: further
    figures."""

    name: str
    found: float
    most: float = math.inf
    least: float = -math.inf
    note: str = ""

    @property
    def is_reached(self) -> bool:
        return self.least <= self.found <= self.most  # False for NaN

    def __str__(self) -> str:
        bounds = [f"at most {self.most:g}"] if self.most < math.inf else []
        bounds += [f"at least {self.least:g}"] if self.least > -math.inf else []
        found = "nothing to measure" if math.isnan(self.found) else f"{self.found:.4g}"
        verdict = "reached" if self.is_reached else "MISSED"
        note = f"; {self.note}" if self.note else ""
        return f"{verdict:8} {self.name}: {found} ({' and '.join(bounds)}{note})"


def report(goals: Sequence[Goal]) -> int:
    """Print all goals. Returns the exit status: 0 if all are reached, else 1."""
    for goal in goals:
        print(goal, flush=True)
    missed = sum(not goal.is_reached for goal in goals)
    print(f"{len(goals) - missed} of {len(goals)} goals reached", flush=True)
    return int(missed > 0)


def percentile(values: Sequence[float], share: float) -> float:
    """A value from `values` such that at least the fraction `share` of them are at or below it. NaN
    if there are no values."""
    if not values:
        return math.nan
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the least-squares line through the points; 0 if all x are equal, NaN for fewer
    than two points."""
    if len(points) < 2:
        return math.nan
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    across = sum((x - middle_x) ** 2 for x, _ in points)
    if across == 0:
        return 0.0
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / across
