"""The p-value, threshold and power of the chi-square test, checked in other ways."""

from __future__ import annotations

import math

import pytest

from sequoia.exactness import chi_square
from sequoia.exactness.chi_square import ALARM


def normal_tail(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2


@pytest.mark.parametrize("square", [0.1, 24.0])
def test_one_degree_of_freedom_is_a_squared_normal(square: float) -> None:
    assert chi_square.p_value(square, 1) == pytest.approx(2 * normal_tail(math.sqrt(square)))


@pytest.mark.parametrize("freedom", [1, 8, 600])
def test_the_threshold_has_the_p_value_of_the_alarm(freedom: int) -> None:
    assert chi_square.p_value(chi_square.threshold(freedom), freedom) == pytest.approx(ALARM)


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_the_power_of_two_cells_is_that_of_a_shifted_normal(share: float) -> None:
    """Noncentral chi-square with one degree of freedom is the square of a shifted normal. At share
    0.5 the draws follow the tested distribution, so the power is ALARM."""
    draws = 2000
    shift = math.sqrt(draws * ((share - 0.5) ** 2 / 0.5) * 2)
    edge = math.sqrt(chi_square.threshold(1))
    expected = normal_tail(edge - shift) + normal_tail(edge + shift)
    found = chi_square.power([0.5, 0.5], [share, 1 - share], draws)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-15)
