"""What the page says about the results of experiments: only what their numbers show."""

from __future__ import annotations

import pytest

from sequoia.experiments.result import Estimate, ExperimentResult, Ratio
from sequoia.experiments.runner import EXPERIMENTS
from ui.words.experiment_result import TOKENS, answer
from ui.words.experiments import WORDS


@pytest.mark.parametrize("name", WORDS)
def test_a_result_without_units_says_nothing(name: str) -> None:
    settings = dict(EXPERIMENTS[name].sizes["small"])
    view = WORDS[name].view(ExperimentResult(name=name, settings=settings, done=0, total=1))
    assert (view["finding"], view["series"], view["rows"]) == ("", [], [])


def said(*intervals: tuple[float, float]) -> str:
    ratios = [
        Ratio(one="a", other="b", at={}, ratio=Estimate((low + high) / 2, low, high, 2))
        for low, high in intervals
    ]
    return answer(ratios, "A", "B", TOKENS)


def test_only_intervals_that_exclude_1_count_as_clear() -> None:
    won, unclear, lost = (1.1, 1.3), (0.9, 1.1), (0.5, 0.7)
    assert said(won, won, unclear) == (
        "A emits clearly more tokens per step than B in 2 of 3 cases, and clearly fewer in none "
        "(0% to +20%)."
    )
    assert said(won, lost, lost).startswith("A emits clearly fewer tokens per step than B in 2 of")
    assert "in 0 of 1 cases, and clearly fewer in none" in said(unclear)
