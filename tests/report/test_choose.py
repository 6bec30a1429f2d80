"""The choice of the report's stages that fit into a given time."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from fake_stages import stage

from sequoia.report.choose import chosen


def names(stages: list) -> list[str]:
    return [one.name for one in stages]


def test_without_a_budget_all_are_chosen_most_valuable_first() -> None:
    stages = [stage("a", value=1), stage("b", value=9), stage("c", value=5, seconds=1e6)]
    assert names(chosen(stages, math.inf)) == ["b", "c", "a"]


def test_two_cheap_stages_may_be_worth_more_than_a_dear_one() -> None:
    stages = [
        stage("dear", value=60, seconds=100),
        stage("one", value=40, seconds=50),
        stage("two", value=35, seconds=50),
    ]
    assert names(chosen(stages, 100)) == ["one", "two"]
    assert names(chosen(stages, 99)) == ["one"]
    assert names(chosen(stages, 150)) == ["dear", "one"]


@pytest.mark.parametrize("seconds", [0, -3.0, 0.5])
def test_with_too_little_time_no_stage_is_chosen(seconds: float) -> None:
    assert chosen([stage("a", seconds=0.6)], seconds) == []


def test_the_choice_is_the_best_of_all_possible_ones() -> None:
    chance = random.Random(4)
    for _ in range(20):
        stages = [
            stage(str(i), value=chance.randrange(1, 30), seconds=chance.randrange(1, 40))
            for i in range(8)
        ]
        best = max(
            sum(one.value for one in some)
            for count in range(9)
            for some in itertools.combinations(stages, count)
            if sum(one.seconds for one in some) <= 60
        )
        found = chosen(stages, 60)
        assert sum(one.value for one in found) == best
        assert sum(one.seconds for one in found) <= 60
