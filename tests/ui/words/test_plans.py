"""Sentences about plans, and about a run beside its prediction, with the numbers of the plans."""

from __future__ import annotations

import re

import pytest

from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import CheckedPrediction, check_prediction
from sequoia.planning.compare_plans import chosen
from sequoia.planning.plan_for_machine import predict
from sequoia.planning.simulated_step_times import phases
from tests.planned import GRID, PROFILE, RATES
from ui.words.plans import (
    difference,
    prediction_words,
    why,
)

TREE = Tree.kary(2, 4)
PLAN = predict(TREE, RATES, PROFILE)


def test_the_sentence_has_the_numbers_of_the_plans() -> None:
    row, column = chosen(GRID)
    best = GRID.plans[row][column]
    deeper = GRID.plans[row + 1][column]
    words = why(GRID, PROFILE)
    assert words.startswith(
        f"Best: {len(best.tree)} nodes on {best.tree.levels} levels. "
        f"{best.expected_tokens:.2f} tokens in {best.predicted_seconds * 1e3:.1f} ms = "
        f"{best.predicted_speedup:.2f}× plain decoding. "
    )
    assert deeper.tree != best.tree
    more = re.search(
        r"(?:The runner-up, \d+ nodes on \d+ levels,|"
        r"With one more level, the best tree of \d+ nodes) is [^(]+ \(([\d.]+)×\): a step gives "
        r"([\d.]+) more tokens but takes ([\d.]+) ms longer \(drafting\)",
        words,
    )
    assert [float(part) for part in more.groups()] == pytest.approx(
        [
            deeper.predicted_speedup,
            deeper.expected_tokens - best.expected_tokens,
            (deeper.predicted_seconds - best.predicted_seconds) * 1e3,
        ],
        abs=0.051,
    )


def stats(tokens: int, steps: int = 10, **change: float) -> DecodeStats:
    """A run of `tokens` tokens. Its phases take the predicted times, each multiplied by its factor
    in `change`."""
    seconds = {
        phase: value * steps * change.get(phase, 1.0)
        for phase, value in phases(TREE, PROFILE).items()
    }
    return DecodeStats(steps=steps, tokens=tokens, seconds=seconds)


def checked(run: DecodeStats, plain: float | None = None) -> CheckedPrediction:
    return check_prediction(run, PLAN, PROFILE, plain)


def test_the_sentence_says_what_raised_the_speedup_and_what_lowered_it() -> None:
    """The part with the largest effect comes first."""
    words = prediction_words(checked(stats(10, verify=1.1), 0.021), 0.777)
    assert words.startswith(f"Predicted {PLAN.predicted_speedup:.2f}×, measured 0.78×. ")
    assert words.endswith(". Lowered by fewer tokens per step and slower verifying.")
    run = stats(60, draft=1.5, overhead=0.5)
    words = prediction_words(checked(run, PROFILE.plain_seconds * 0.9), 1.5)
    assert ". Raised by more tokens per step and less overhead. Lowered by " in words
    untimed = prediction_words(checked(run), 1.5)
    assert "×; with the measured steps and the profile's time per plain token, " in untimed


def test_the_difference_is_that_of_the_values_shown() -> None:
    assert difference("verify", 0.01624, 0.01886) == "2.7 ms more"
    assert difference("tokens", 2.004, 2.506) == "0.51 more"
    assert difference("draft", 0.01624, 0.01618) == "60 µs less"  # both shown as 16.2 ms
