"""Sentences about plans, and about a run beside its prediction, with the numbers of the plans."""

from __future__ import annotations

from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import CheckedPrediction, check_prediction
from sequoia.planning.compare_plans import chosen, runner_up
from sequoia.planning.plan_for_machine import predict
from sequoia.planning.simulated_step_times import phases
from tests.planned import GRID, PROFILE, RATES
from ui.words.figures import time_words
from ui.words.plans import (
    copy_words,
    difference,
    effects,
    prediction_words,
    why,
)

TREE = Tree.kary(2, 4)
PLAN = predict(TREE, RATES, PROFILE)


def test_the_sentence_has_the_numbers_of_the_plans() -> None:
    row, column = chosen(GRID)
    best = GRID.plans[row][column]
    second = runner_up(GRID)
    assert second is not None
    words = why(GRID, PROFILE)
    assert words.startswith(
        f"Best: {len(best.tree)} nodes on {best.tree.levels} levels. "
        f"{best.expected_tokens:.2f} tokens in {best.predicted_seconds * 1e3:.1f} ms = "
        f"{best.predicted_speedup:.2f}× plain decoding. "
    )
    longer = second.predicted_seconds - best.predicted_seconds
    assert f"The runner-up, {len(second.tree)} nodes on {second.tree.levels} levels, is " in words
    assert f"takes {time_words(longer)} longer" in words


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


def test_each_part_says_how_it_differs_and_what_it_does_alone() -> None:
    found = checked(stats(10, verify=1.1), 0.021)
    words = prediction_words(found, 0.777)
    assert words == f"Predicted {PLAN.predicted_speedup:.2f}×, measured 0.78×."
    parts = effects(found)
    assert " fewer: alone, this would give " in parts["tokens"]
    assert f" more: alone, this would give {found.alone['verify']:.2f}×" in parts["verify"]
    assert parts["draft"] == "as predicted"
    untimed = prediction_words(checked(stats(60)), 1.5)
    assert "×; with the measured steps and the profile's time per plain token, " in untimed


def test_the_difference_is_that_of_the_values_shown() -> None:
    assert difference("verify", 0.01624, 0.01886) == "2.7 ms more"
    assert difference("tokens", 2.004, 2.506) == "0.51 more"
    assert difference("draft", 0.01624, 0.01618) == "60 µs less"  # both shown as 16.2 ms


def test_a_note_on_a_copy_gives_its_prediction() -> None:
    slower, equal, faster = (copy_words("int4", speedup) for speedup in (0.5, 1.05, 1.5))
    assert "in int4 is predicted to be slower than plain decoding: 0.5x" in slower
    assert "about as fast as plain decoding: 1.1x" in equal
    assert "faster than plain decoding: 1.5x" in faster
