"""Counts against a distribution: cells counted together, impossible samples, the noise floor."""

from __future__ import annotations

import math

import pytest

from sequoia.exactness.losslessness.comparison import Comparison, Grouping, mean_deviation


def test_rare_cells_are_counted_together() -> None:
    grouping = Grouping((0.5, 0.01, 0.48, 0.01), 300)
    assert grouping.groups == ((0,), (2,), (1, 3))
    assert grouping.grouped([1, 2, 3, 4]) == [1, 3, 6]


def test_rare_cells_join_a_common_one_if_they_are_rare_together_too() -> None:
    assert Grouping((0.5, 0.001, 0.498, 0.001), 300).groups == ((0,), (2, 1, 3))


def test_a_sample_that_the_target_never_gives_differs_at_once() -> None:
    grouping = Grouping((0.5, 0.5, 0.0), 100)
    assert not Comparison(grouping, (50, 50, 0)).differs
    found = Comparison(grouping, (50, 49, 1))
    assert (found.p_value, found.differs) == (0, True)
    assert grouping.power([0.5, 0.4, 0.1]) == pytest.approx(1 - 0.9**100, rel=1e-3)


def test_without_a_second_cell_nothing_is_decided() -> None:
    found = Comparison(Grouping((1.0,), 100), (100,))
    assert (found.p_value, found.differs) == (None, False)


@pytest.mark.parametrize(("draws", "share"), [(7, 0.3), (10, 0.5), (1, 0.2), (40, 0.03)])
def test_the_mean_deviation_is_that_of_a_binomial(draws: int, share: float) -> None:
    expected = sum(
        math.comb(draws, k) * share**k * (1 - share) ** (draws - k) * abs(k / draws - share)
        for k in range(draws + 1)
    )
    assert mean_deviation(draws, share) == pytest.approx(expected)


def test_total_variation_of_counts() -> None:
    found = Comparison(Grouping((0.5, 0.5), 100), (60, 40))
    assert found.total_variation == pytest.approx(0.1)
    assert found.noise_floor == pytest.approx(mean_deviation(100, 0.5))
