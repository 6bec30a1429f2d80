"""Acceptance vectors: validation, smoothing, the power law, and files."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sequoia.algorithm.acceptance import Acceptance, non_increasing
from sequoia.errors import BadAcceptance

BAD = [  # (rates, part of the message)
    ((), "no rates"),
    ((0.0,) * 1025, "more than 1024"),
    ((-0.1,), "rates[0]: -0.1 is not a number from 0 to 1"),
    ((0.5, 1.5), "rates[1]: 1.5 is not a number from 0 to 1"),
    ((0.7, 0.4), "sum to 1.1; at most one child is accepted, so the sum must be at most 1"),
    ((True,), "rates[0]: True"),
    ("0.5", "must be a list of numbers, not '0.5'"),
]


@pytest.mark.parametrize(("rates", "named"), BAD)
def test_invalid_vectors_are_rejected_with_value_and_bound(rates: Any, named: Any) -> None:
    with pytest.raises(BadAcceptance) as caught:
        Acceptance(rates)
    assert named in str(caught.value)


def test_valid_vectors_become_floats() -> None:
    assert Acceptance([1, 0]).rates == (1.0, 0.0)
    assert Acceptance(np.array([0.5, 0.25], dtype=np.float32)).rates == (0.5, 0.25)
    assert Acceptance(iter([0.5])).rates == (0.5,)
    assert all(type(rate) is float for rate in Acceptance([np.float32(0.5), 0, np.int64(0)]).rates)


def test_only_rounding_errors_of_the_sum_are_accepted() -> None:
    assert Acceptance((0.5, 0.5 + 5e-10)).rates[1] > 0.5
    with pytest.raises(BadAcceptance, match="sum to"):
        Acceptance((0.5, 0.5 + 2e-9))


def test_smoothing_agrees_with_the_min_max_formula() -> None:
    """The formula is isotonic regression in closed form: rate k is the min over i <= k of the max
    over j >= k of mean(i..j).

    Guards against pools (runs of values that share a mean) that are not merged, or are merged with
    wrong weights.
    """
    rng = random.Random(1)
    for _ in range(300):
        values = [rng.choice([0.0, rng.random()]) for _ in range(rng.randint(1, 9))]
        exact = [
            min(
                max(np.mean(values[i : j + 1]) for j in range(k, len(values))) for i in range(k + 1)
            )
            for k in range(len(values))
        ]
        assert non_increasing(values) == pytest.approx(exact, abs=1e-12)


def test_smoothing_keeps_the_sum_and_does_not_change_ordered_vectors() -> None:
    noisy = Acceptance((0.5, 0.1, 0.2, 0.0, 0.05))
    smooth = noisy.smoothed()
    assert not noisy.is_monotone
    assert smooth.is_monotone
    assert smooth.rates == pytest.approx((0.5, 0.15, 0.15, 0.025, 0.025))
    assert math.fsum(smooth.rates) == pytest.approx(math.fsum(noisy.rates))
    assert smooth.smoothed() == smooth


def test_a_power_law_falls_by_its_exponent() -> None:
    acceptance = Acceptance.power_law(exponent=1.7, first=0.45, length=20)
    assert acceptance.rates[0] == 0.45
    assert all(
        b / a == pytest.approx(((k + 1) / k) ** -1.7)
        for k, (a, b) in enumerate(pairwise(acceptance.rates), start=1)
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((-1, 0.5, 3), "exponent: -1 is not a number from 0 to 100"),
        ((0, 0.5, 3), "sum to 1.5"),
    ],
)
def test_invalid_power_laws_are_rejected(arguments: Any, named: Any) -> None:
    with pytest.raises(BadAcceptance) as caught:
        Acceptance.power_law(*arguments)
    assert named in str(caught.value)


def test_damaged_files_raise_only_bad_acceptance() -> None:
    """A valid file in which one character was replaced is either read, or refused with
    BadAcceptance."""
    good = '{"format": "sequoia-acceptance", "version": 1, "rates": [0.5, 0.25, 0.0625]}'
    outcomes = set()
    for index in range(len(good)):
        for char in '"x9-[{}],.e ':
            try:
                Acceptance.from_json(good[:index] + char + good[index + 1 :])
                outcomes.add("vector")
            except BadAcceptance:
                outcomes.add("rejected")
    assert outcomes == {"vector", "rejected"}
