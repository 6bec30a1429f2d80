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
]  # way, as in `interleaved` -> name of the figure -> its value in each round


@dataclass(frozen=True)
class Spread:
    """The median, lowest and highest of some values."""

    median: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        median, lowest, highest = map(rounded, (self.median, self.lowest, self.highest))
        return f"{median} ({lowest} to {highest})"


def rounded(value: float) -> str:
    """`value` as text: two decimals if it is below 10, one from 10 on, none from 100 on."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))


def at_share(values: Sequence[float], share: float) -> float:
    """The quantile `share` of `values`: the smallest one with at least this fraction of them at or
    below it. share: above 0, at most 1."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def ratios(new: Sequence[float], old: Sequence[float]) -> Spread:
    """The spread of new / old over the rounds. new, old: a value for each round. What slows down a
    whole round hardly changes its ratio."""
    return spread(
        [after / before if before else math.nan for after, before in zip(new, old, strict=True)]
    )


def interleaved(ways: Mapping[str, Callable[[], Figures]], rounds: int) -> Found:
    """Calls each of `ways` once per round and collects its figures. An extra first round only warms
    up.

    Each round reverses the order of the round before, so that no way is always first.
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
    """A line for each figure of the way "new": the spread of its values. If `found` has the way
    "old" too, the line adds the spread of the old values and of the ratios new / old."""
    for name, values in found["new"].items():
        new = spread(values)
        if "old" not in found:
            yield f"  {name:48s} {new}"
            continue
        before = found["old"][name]
        yield f"  {name:48s} new {new}   old {spread(before)}   new/old {ratios(values, before)}"
