"""Sentences about plans, and about a run beside its prediction, with the numbers of the plans."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import CheckedPrediction, check_prediction
from sequoia.planning.compare_plans import chain_gains, chosen
from sequoia.planning.plan_for_machine import best_plan, predict, speedup_grid
from sequoia.planning.simulated_step_times import phases
from tests.planned import GRID, PROFILE, RATES
from ui.words.plans import (
    calibration_words,
    chain_words,
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


def test_every_kind_of_trade_off_is_described() -> None:
    """With random profiles and acceptance vectors. No gain or loss has a minus sign."""
    rng = random.Random(3)
    seen = set()
    for _ in range(80):
        base = rng.uniform(0.001, 1)
        profile = replace(
            PROFILE,
            target_seconds=((1, base, 0), (32, base * rng.uniform(1, 4), 0)),
            overhead_seconds=0.0,
            draft_seconds=((1, base * rng.uniform(0.001, 0.9), 0),),
        )
        raw = sorted((rng.random() for _ in range(4)), reverse=True)
        grid = speedup_grid(
            Acceptance(tuple(r / sum(raw) * rng.random() for r in raw)).smoothed(),
            profile,
            (1, 2, 4, 8, 16, 32),
            range(1, 8),
        )
        words = why(grid, profile)
        seen |= {
            part
            for part in ("more tokens but", " less (", " fewer tokens", "Best: plain decoding")
            if part in words
        }
        assert "-" not in words.replace("runner-up", "").replace("e-0", "")
        assert words.endswith(".")
    assert seen == {"more tokens but", " less (", " fewer tokens", "Best: plain decoding"}


@pytest.mark.parametrize(
    ("source", "calibrated", "words"),
    [
        ("simulated", None, ""),  # the tree is smaller than the largest size known
        (
            "simulated",
            0,
            "These times are simulated; none of them was checked against a measurement.",
        ),
        (
            "simulated",
            8,
            "These times are simulated and were compared with measurements up to 8 nodes; for "
            "{n} nodes they are extrapolated.",
        ),
        ("paper", 1, "Times are known up to 1 node; for {n} nodes they are extrapolated."),
    ],
)
def test_a_tree_beyond_what_was_calibrated_says_so(
    source: str, calibrated: int | None, words: str
) -> None:
    profile = replace(PROFILE, source=source, calibrated_nodes=calibrated)
    n = len(best_plan(RATES, profile, 64, 12).tree)
    expected = words.format(n=n)
    assert n > 8
    assert calibration_words(best_plan(RATES, profile, 64, 12).tree, profile) == expected
    assert why(GRID, profile).endswith(expected or ".")
    assert ("extrapolated" in why(GRID, profile)) == ("extrapolated" in expected)
    assert calibration_words(Tree.chain(1), profile) == ""


def test_why_the_fastest_tree_is_a_chain() -> None:
    assert chain_words(chain_gains(Tree.chain(4), Acceptance((0.8, 0.06)))) == (
        "A chain: its last node is predicted to add 0.51 tokens per step, a second child of the "
        "root only 0.06."
    )
    assert chain_words(None) == ""


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


def test_effects_use_more_and_less_and_fewer() -> None:
    """Guards against wrong signs. For example, slower plain decoding makes the speed-up larger."""
    found = effects(checked(stats(10, draft=0.5), PROFILE.plain_seconds * 2))
    assert re.match(r"[\d.]+ fewer: alone, this would give ", found["tokens"])
    assert re.match(r"[\d.]+ [mµ]s less: alone, this would give ", found["draft"])
    assert found["verify"] == "as predicted"
    assert found["plain"].endswith(
        f"ms more: alone, this would give {2 * PLAN.predicted_speedup:.2f}× instead of "
        f"{PLAN.predicted_speedup:.2f}×"
    )


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
