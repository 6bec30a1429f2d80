"""Acceptance vectors: how often verification accepts a node's first child, its second, and so on.
This module does not depend on trees, on hardware or on how the rates were measured.

`rates[k]` is the probability that child k of an accepted node is accepted (paper: section 3.1).
Child 0 is drafted first. If an earlier child is accepted, child k is not. So at most one child is
accepted, and the rates sum to at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sequoia.errors import BadAcceptance
from sequoia.validate_input import items, number, read_json, whole

MAX_RATES = 1024
MAX_JSON_CHARS = 64 * 1024
_ROUNDING = 1e-9  # by rounding, counted rates can sum to slightly more than 1


@dataclass(frozen=True)
class Acceptance:
    """An acceptance vector; the first child's rate comes first. Raises BadAcceptance unless it has
    1 to MAX_RATES finite numbers in [0, 1] that sum to at most 1, up to rounding."""

    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", _checked(self.rates))

    @property
    def is_monotone(self) -> bool:
        """True if no child is accepted more often than the one before it."""
        return all(left >= right for left, right in pairwise(self.rates))

    def smoothed(self) -> Acceptance:
        """The nearest non-increasing vector (least squares). It has the same sum."""
        return Acceptance(tuple(min(max(rate, 0.0), 1.0) for rate in non_increasing(self.rates)))

    @classmethod
    def power_law(cls, exponent: float, first: float, length: int) -> Acceptance:
        """The vector of `length` rates with `rates[k] = first * (k + 1) ** -exponent`. The exponent
        is 0 to 100."""
        exponent = number(exponent, "exponent", 0, 100, BadAcceptance)
        first = number(first, "first rate", 0, 1, BadAcceptance)
        return cls(
            tuple(
                first * k**-exponent
                for k in range(1, whole(length, "length", 1, MAX_RATES, BadAcceptance) + 1)
            )
        )

    @classmethod
    def from_json(cls, text: str) -> Acceptance:
        """The vector in `text`, a file that the Lab saved. Raises BadAcceptance for anything
        else."""
        return cls(read_json(text, "acceptance", MAX_JSON_CHARS, BadAcceptance).get("rates"))  # pyright: ignore[reportArgumentType]


def non_increasing(values: Sequence[float]) -> list[float]:
    """The non-increasing sequence nearest to `values` in least squares, by the pool adjacent
    violators algorithm: O(n)."""
    pools: list[tuple[float, int]] = []  # (mean, number of values)
    for value in values:
        mean = value
        members = 1
        while pools and pools[-1][0] < mean:
            other, count = pools.pop()
            mean = (mean * members + other * count) / (members + count)
            members += count
        pools.append((mean, members))
    return [mean for mean, members in pools for _ in range(members)]


def _checked(rates: Any) -> tuple[float, ...]:
    rates = items(rates, "acceptance rates must be a list of numbers", MAX_RATES, BadAcceptance)
    if not 1 <= len(rates) <= MAX_RATES:
        count = "no rates" if not rates else f"more than {MAX_RATES} rates"
        raise BadAcceptance(f"an acceptance vector with {count}; expected 1 to {MAX_RATES}")
    rates = tuple(number(rate, f"rates[{k}]", 0, 1, BadAcceptance) for k, rate in enumerate(rates))
    if (total := math.fsum(rates)) > 1 + _ROUNDING:
        raise BadAcceptance(
            f"acceptance rates sum to {total:.10g}; at most one child is accepted, so the sum must "
            "be at most 1"
        )
    return rates
