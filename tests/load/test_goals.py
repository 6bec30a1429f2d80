"""Goals that are reached or missed, and the slope of a line."""

from __future__ import annotations

import math

import pytest
from goals import Goal, slope


@pytest.mark.parametrize(
    ("found", "is_reached"), [(2, True), (3, True), (1.9, False), (3.1, False), (math.nan, False)]
)
def test_a_goal_is_reached_only_by_a_value_within_its_limits(
    found: float, is_reached: bool
) -> None:
    goal = Goal("waits", found, most=3, least=2)
    assert goal.is_reached == is_reached
    assert str(goal).startswith("reached" if is_reached else "MISSED")


def test_a_slope_needs_two_points_and_is_0_if_they_have_the_same_x() -> None:
    assert slope([(0, 1), (2, 5), (4, 9)]) == 2
    assert slope([(3, 1), (3, 5)]) == 0
    assert math.isnan(slope([(3, 1)]))
