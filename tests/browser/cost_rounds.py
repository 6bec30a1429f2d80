"""Measurements in interleaved rounds, and the table of their figures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Figures: TypeAlias = dict[str, float]  # by name
Found: TypeAlias = dict[
    str, dict[str, list[float]]
]  # by name of what is compared, then of the figure


@dataclass(frozen=True)
class Spread:
    """Median, lowest and highest of some rounds."""

    median: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        median, lowest, highest = map(rounded, (self.median, self.lowest, self.highest))
        return f"{median} ({lowest} to {highest})"


def rounded(value: float) -> str:
    """`value` with two decimals below 10, one below 100, and none above."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))


def ratios(new: Sequence[float], old: Sequence[float]) -> Spread:
    """new / old within each round, which cancels what slows both."""
    return spread([after / before for after, before in zip(new, old, strict=True)])


def at_share(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def interleaved(ways: Mapping[str, Callable[[], Figures]], rounds: int) -> Found:
    """Calls each of `ways` once per round and collects its figures. An extra first round only warms
    up.

    Each round reverses the order of the round before, so that none is always first.
    """
    found: Found = {name: {} for name in ways}
    for number in range(rounds + 1):
        order = list(ways) if number % 2 else list(reversed(ways))
        for name in order:
            figures = ways[name]()
            if number > 0:
                keep(found[name], figures)
    return found


def keep(found: dict[str, list[float]], figures: Figures) -> None:
    for name, value in figures.items():
        found.setdefault(name, []).append(value)


def in_words(found: Found) -> Iterator[str]:
    """A line for each figure: the spread of its "new" values. If there are "old" ones, also theirs
    and that of the ratio new / old."""
    for name, values in found["new"].items():
        new = spread(values)
        if "old" not in found:
            yield f"  {name:44s} {new}"
            continue
        before = found["old"][name]
        yield f"  {name:44s} new {new}   old {spread(before)}   new/old {ratios(values, before)}"
