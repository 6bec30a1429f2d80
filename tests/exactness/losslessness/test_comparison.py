"""Comparing counts with a distribution: grouped cells, impossible samples, the noise floor."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sequoia.exactness.chi_square import ALARM, MIN_EXPECTED
from sequoia.exactness.losslessness.comparison import Comparison, Grouping, mean_deviation


def test_rare_cells_are_counted_together() -> None:
    grouping = Grouping((0.5, 0.01, 0.48, 0.01), 1500)
    assert grouping.groups == ((0,), (2,), (1, 3))
    assert grouping.grouped([1, 2, 3, 4]) == [1, 3, 6]


def test_one_sample_of_probability_0_is_enough_to_differ() -> None:
    grouping = Grouping((0.5, 0.5, 0.0), 100)
    assert not Comparison(grouping, (50, 50, 0)).fit.differs
    found = Comparison(grouping, (50, 49, 1))
    assert (found.fit.p_value, found.fit.differs) == (0, True)
    assert grouping.power([0.5, 0.4, 0.1]) == pytest.approx(1 - 0.9**100, rel=1e-3)


@pytest.mark.parametrize(("draws", "share"), [(7, 0.3), (40, 0.03)])
def test_the_mean_deviation_is_that_of_a_binomial(draws: int, share: float) -> None:
    expected = sum(
        math.comb(draws, k) * share**k * (1 - share) ** (draws - k) * abs(k / draws - share)
        for k in range(draws + 1)
    )
    assert mean_deviation(draws, share) == pytest.approx(expected)


def test_a_test_that_is_stopped_early_groups_its_cells_again() -> None:
    """The cells are grouped for 20,000 samples. After only ten samples, every cell expects fewer
    than MIN_EXPECTED. All cells then share one group, and nothing is decided."""
    shares = (0.9, *[0.01] * 9, *[0.001] * 10)
    counts = [9] + [0] * 19
    counts[15] = 1
    found = Comparison(Grouping(shares, 20_000), tuple(counts))
    assert found.fit.freedom == 10
    assert found.ended.grouping.groups == (tuple(range(20)),)
    assert (found.ended.fit.p_value, found.ended.fit.differs) == (None, False)
    whole = replace(found, grouping=Grouping(shares, 10))
    assert whole.ended is whole


def test_a_correct_decoder_is_rejected_fewer_than_ten_times_in_a_million_tests() -> None:
    """For two cells, of which the first expects MIN_EXPECTED samples: the binomial probability of
    the counts below 400 that the test rejects. Higher counts are too improbable to matter."""
    draws = 20_000
    share = MIN_EXPECTED / draws
    far = sum(
        math.exp(
            math.lgamma(draws + 1)
            - math.lgamma(k + 1)
            - math.lgamma(draws - k + 1)
            + k * math.log(share)
            + (draws - k) * math.log1p(-share)
        )
        for k in range(400)
        if Comparison(Grouping((share, 1 - share), draws), (k, draws - k)).fit.differs
    )
    assert 0 < far < 10 * ALARM
