"""Acceptance: how often the walk goes to each child. Knows nothing of trees, hardware, or how the
rates were measured.

`rates[k]` is the unconditional chance, at an accepted node, that child number k
(0 is drafted first) is the one accepted (paper: section 3.1). The events exclude each other, so the
rates sum to at most 1.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from sequoia.errors import BadAcceptance
from sequoia.validate_input import number, read_json, shown, whole

MAX_RATES = 1024
MAX_JSON_CHARS = 64 * 1024
FORMAT = "sequoia-acceptance"
_ROUNDING = 1e-9  # a vector of ratios may sum to a hair more than 1


@dataclass(frozen=True)
class Acceptance:
    """An acceptance vector, the first child's rate first. Raises BadAcceptance unless there are 1
    to MAX_RATES finite numbers in [0, 1] whose sum is at most 1."""

    rates: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rates", _checked(self.rates))

    @property
    def is_monotone(self) -> bool:
        """True when no child is accepted more often than the one before it; best-first
        planning needs that."""
        return all(left >= right for left, right in pairwise(self.rates))

    def smoothed(self) -> Acceptance:
        """The nearest non-increasing vector (least squares); the sum stays. Measured vectors need
        it before planning."""
        return Acceptance(tuple(min(max(rate, 0.0), 1.0) for rate in non_increasing(self.rates)))

    @classmethod
    def power_law(cls, exponent: float, first: float, length: int) -> Acceptance:
        """`rates[k] = first * (k + 1) ** -exponent`, exponent 0 to 100."""
        exponent = number(exponent, "exponent", 0, 100, BadAcceptance)
        first = number(first, "first rate", 0, 1, BadAcceptance)
        return cls(
            tuple(
                first * k**-exponent
                for k in range(1, whole(length, "length", 1, MAX_RATES, BadAcceptance) + 1)
            )
        )

    def fit_power_law(self) -> tuple[float, float]:
        """(first, exponent) of the power law nearest to the positive rates; raises
        BadAcceptance for fewer than two.

        A line through log rate over log rank, by least squares. Points weigh as much as their rate,
        because the logarithm of a counted rate has a variance inverse to it.
        """
        points = [
            (math.log(k), math.log(rate), rate)
            for k, rate in enumerate(self.rates, start=1)
            if rate > 0
        ]
        if len(points) < 2:
            raise BadAcceptance(f"a power law needs 2 positive rates, not {len(points)}")
        total = math.fsum(w for _, _, w in points)
        x_mean = math.fsum(w * x for x, _, w in points) / total
        y_mean = math.fsum(w * y for _, y, w in points) / total
        slope = math.fsum(w * (x - x_mean) * (y - y_mean) for x, y, w in points) / math.fsum(
            w * (x - x_mean) ** 2 for x, _, w in points
        )
        return math.exp(y_mean - slope * x_mean), -slope

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, "version": 1, "rates": self.rates})

    @classmethod
    def from_json(cls, text: str) -> Acceptance:
        """The vector in `text`, as written by `to_json`; raises BadAcceptance for anything else."""
        return cls(read_json(text, FORMAT, MAX_JSON_CHARS, BadAcceptance).get("rates"))  # pyright: ignore[reportArgumentType]


def non_increasing(values: Sequence[float]) -> list[float]:
    """The non-increasing sequence nearest to `values` in least squares, by pooling
    adjacent violators: O(n)."""
    pools: list[tuple[float, int]] = []  # (mean, members)
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
    if isinstance(rates, str | bytes | dict) or not isinstance(rates, Iterable):
        raise BadAcceptance(f"acceptance rates must be a list of numbers, not {shown(rates)}")
    rates = tuple(islice(rates, MAX_RATES + 1))
    if not 1 <= len(rates) <= MAX_RATES:
        count = "no rates" if not rates else f"more than {MAX_RATES} rates"
        raise BadAcceptance(f"an acceptance vector with {count}; allowed are 1 to {MAX_RATES}")
    rates = tuple(number(rate, f"rates[{k}]", 0, 1, BadAcceptance) for k, rate in enumerate(rates))
    if (total := math.fsum(rates)) > 1 + _ROUNDING:
        raise BadAcceptance(
            f"acceptance rates sum to {total:.10g}; they exclude each other, so "
            "the sum is at most 1"
        )
    return rates
