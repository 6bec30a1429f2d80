"""Sentences about the chosen tree and about a run. Their numbers are compared with those of the
plans."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from fakes import made_profile

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.errors import BadProfile, BadTrace
from sequoia.planning.explain_plan import (
    Part,
    calibration_words,
    chosen,
    compare,
    fastest,
    knee,
    phases,
    runner_up,
    why,
    why_chain,
)
from sequoia.planning.plan_for_machine import (
    SpeedupGrid,
    best_plan,
    predict,
    speedup_grid,
    step_seconds,
)

PROFILE = made_profile(
    target_seconds=((1, 0.02, 0.001), (8, 0.021, 0.001), (64, 0.03, 0.002), (128, 0.06, 0.002)),
    draft_seconds=((1, 0.0015, 0.0), (32, 0.0016, 0.0)),
    overhead_seconds=((1, 0.001, 0.0), (101, 0.002, 0.0)),
)
RATES = Acceptance((0.6, 0.15, 0.08, 0.04, 0.02))
SIZES = tuple(range(1, 65))
LEVELS = tuple(range(1, 13))
GRID = speedup_grid(RATES, PROFILE, SIZES, LEVELS)


def test_the_knee_is_the_first_size_at_twice_the_time() -> None:
    n = knee(PROFILE)
    assert (
        PROFILE.verify_seconds(n) >= 2 * PROFILE.verify_seconds(1) > PROFILE.verify_seconds(n - 1)
    )
    assert knee(replace(PROFILE, target_seconds=((1, 0.02, 0), (64, 0.0399, 0)))) is None
    assert knee(replace(PROFILE, target_seconds=((1, 0.02, 0),))) is None
    assert knee(replace(PROFILE, target_seconds=((1, 0.02, 0), (2, 0.04, 0)))) == 2


@pytest.mark.parametrize(
    "tree", [Tree.chain(1), Tree.chain(7), Tree.kary(3, 4), Tree.sequences(5, 4)]
)
def test_phases_sum_to_the_planned_step(tree: Tree) -> None:
    assert sum(phases(tree, PROFILE).values()) == pytest.approx(
        step_seconds(tree, PROFILE), rel=1e-12
    )


def test_the_chosen_cell_is_the_best_plan() -> None:
    row, column = chosen(GRID)
    best = best_plan(RATES, PROFILE, 64, 12)
    assert GRID.plans[row][column].tree == best.tree
    assert LEVELS[row] == best.tree.levels


def test_of_equally_fast_cells_the_smallest_is_chosen() -> None:
    """A level limit above the tree's own number of levels gives the same tree. Of such cells, the
    one with the lowest limit is chosen."""
    grid = speedup_grid(Acceptance((0.0,)), PROFILE, (1, 2, 4), (1, 2, 3))
    assert chosen(grid) == (0, 0)
    free = replace(
        PROFILE,
        target_seconds=((1, 0.02, 0),),
        draft_seconds=((1, 1e-12, 0),),
        overhead_seconds=0.0,
    )
    assert chosen(speedup_grid(Acceptance((0.0,)), free, (1, 2, 4), (1, 2, 3))) == (0, 0)
    with pytest.raises(BadProfile, match="0 sizes"):
        chosen(SpeedupGrid((1, 2), (), ((), ())))


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
    second = runner_up(GRID)
    ours, others = (f"{plan.predicted_speedup:.2f}×" for plan in (best, second))
    assert ours == others  # a second speed-up that looks the same is left out
    size = f"{len(second.tree)} nodes on {second.tree.levels} levels"
    assert f"The runner-up, {size}, is practically as fast: a step" in words


def test_nothing_is_said_of_a_level_that_the_grid_does_not_have() -> None:
    best = best_plan(RATES, PROFILE, 64, 12).tree
    size = (len(best),)
    gaps = speedup_grid(RATES, PROFILE, size, (2, best.levels, best.levels + 4))
    assert fastest(gaps).tree == best
    assert "level changes" not in why(gaps, PROFILE)
    assert "one more level" not in why(gaps, PROFILE).lower()
    assert "level" in why(speedup_grid(RATES, PROFILE, size, LEVELS), PROFILE).split(". ", 2)[2]


def test_the_runner_up_is_the_fastest_other_tree() -> None:
    best = GRID.plans[chosen(GRID)[0]][chosen(GRID)[1]]
    second = runner_up(GRID)
    assert second.tree != best.tree
    assert all(
        plan.predicted_speedup <= second.predicted_speedup
        for row in GRID.plans
        for plan in row
        if plan and plan.tree != best.tree
    )
    assert runner_up(speedup_grid(RATES, PROFILE, (1,), (1,))) is None


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
        ("simulated", 128, ""),
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
        ("recorded", 8, "Times are known up to 8 nodes; for {n} nodes they are extrapolated."),
        ("paper", 1, "Times are known up to 1 node; for {n} nodes they are extrapolated."),
        ("paper", 0, "Times are known up to 0 nodes; for {n} nodes they are extrapolated."),
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


def test_a_profile_is_calibrated_up_to_its_largest_size_unless_it_says_otherwise() -> None:
    assert PROFILE.calibrated_up_to == 128
    assert replace(PROFILE, calibrated_nodes=0).calibrated_up_to == 0
    assert calibration_words(Tree.chain(128), PROFILE) == ""
    assert "for 129 nodes" in calibration_words(Tree.chain(129), PROFILE)


TREE = Tree.kary(2, 4)
PLAN = predict(TREE, RATES, PROFILE)


def stats(tokens: int, steps: int = 10, **change: float) -> DecodeStats:
    """A run of `tokens` tokens. Its phases take the predicted times, each multiplied by its factor
    in `change`."""
    seconds = {
        phase: value * steps * change.get(phase, 1.0)
        for phase, value in phases(TREE, PROFILE).items()
    }
    return DecodeStats(steps=steps, tokens=tokens, seconds=seconds)


def test_each_part_alone_has_the_speedup_of_its_measured_value() -> None:
    """`alone` must be the predicted speed-up with only this part replaced by its measured value.
    With all parts replaced, the result must be the measured speed-up."""
    rng = random.Random(5)
    for _ in range(50):
        run = stats(
            rng.randint(5, 60),
            draft=rng.uniform(0.3, 3),
            verify=rng.uniform(0.3, 3),
            overhead=rng.uniform(0.3, 3),
        )
        plain = rng.choice([None, rng.uniform(0.01, 0.1)])
        found = compare(run, PLAN, PROFILE, plain)
        before, after = (
            {part.name: getattr(part, which) for part in found.parts}
            for which in ("predicted", "measured")
        )
        assert found.predicted == PLAN.predicted_speedup == pytest.approx(speedup(before))
        for part in found.parts:
            assert part.alone == pytest.approx(speedup({**before, part.name: part.measured}))
        assert found.measured == pytest.approx(speedup(after))


def speedup(values: dict[str, float]) -> float:
    return (
        values["tokens"]
        * values["plain"]
        / (values["draft"] + values["verify"] + values["overhead"])
    )


def test_why_the_fastest_tree_is_a_chain() -> None:
    acceptance = Acceptance((0.8, 0.06))
    assert why_chain(Tree.chain(4), acceptance) == (
        "A chain: its last node is predicted to add 0.51 tokens per step, a second child of the "
        "root only 0.06."
    )
    for tree in (Tree.chain(1), Tree((-1, 0, 0)), Tree.sequences(2, 3)):
        assert why_chain(tree, acceptance) == ""


@pytest.mark.parametrize("phase", ["draft", "verify", "overhead"])
def test_only_the_slow_phase_is_blamed(phase: str) -> None:
    run = stats(10 * 3, **{phase: 2.0})
    comparison = compare(run, PLAN, PROFILE)
    found = {part.name: part for part in comparison.parts}
    assert found[phase].measured == pytest.approx(2 * found[phase].predicted)
    assert re.fullmatch(
        (
            rf"[\d.]+ [mµ]s more: alone, this would give {found[phase].alone:.2f}× instead of "
            rf"{comparison.predicted:.2f}×"
        ),
        comparison.effect(found[phase]),
    )
    assert found[phase].alone < comparison.predicted
    assert all(
        comparison.effect(part) == "as predicted"
        for name, part in found.items()
        if name not in (phase, "tokens")
    )


def test_effects_use_more_and_less_and_fewer() -> None:
    """Guards against wrong signs. For example, slower plain decoding makes the speed-up larger."""
    comparison = compare(stats(10, draft=0.5), PLAN, PROFILE, PROFILE.plain_seconds * 2)
    effects = {part.name: comparison.effect(part) for part in comparison.parts}
    assert re.match(r"[\d.]+ fewer: alone, this would give ", effects["tokens"])
    assert re.match(r"[\d.]+ [mµ]s less: alone, this would give ", effects["draft"])
    assert effects["plain"].endswith(
        f"ms more: alone, this would give {2 * PLAN.predicted_speedup:.2f}× instead of "
        f"{PLAN.predicted_speedup:.2f}×"
    )


def test_the_sentence_starts_with_the_largest_part() -> None:
    words = compare(stats(10, verify=1.1), PLAN, PROFILE, 0.021).sentence
    assert words.startswith(f"Predicted {PLAN.predicted_speedup:.2f}×, measured ")
    assert words.endswith(". Lowered by fewer tokens per step and slower verifying.")
    untimed = compare(stats(10, verify=1.1), PLAN, PROFILE).sentence
    start = f"Predicted {PLAN.predicted_speedup:.2f}×; with the measured steps and the profile's"
    assert untimed.startswith(start)


def test_the_sentence_says_what_raised_the_speedup_and_what_lowered_it() -> None:
    run = stats(60, draft=1.5, verify=1.1, overhead=0.5)
    words = compare(run, PLAN, PROFILE, PROFILE.plain_seconds * 0.9).sentence
    raised, lowered = re.fullmatch(r".*×\. Raised by (.*)\. Lowered by (.*)\.", words).groups()
    assert re.split(", | and ", raised) == ["more tokens per step", "less overhead"]
    assert {*re.split(", | and ", lowered)} == {
        "slower drafting",
        "slower verifying",
        "faster plain decoding",
    }


def test_the_difference_is_that_of_the_values_shown() -> None:
    assert Part("verify", 0.01624, 0.01886, 1.0).difference == "2.7 ms more"
    assert Part("tokens", 2.004, 2.506, 1.0).difference == "0.51 more"
    assert Part("draft", 0.01624, 0.01618, 1.0).difference == "60 µs less"  # both shown as 16.2 ms


def test_a_run_without_steps_is_rejected() -> None:
    with pytest.raises(BadTrace, match="0 steps, 0 tokens and 0 s of verification"):
        compare(DecodeStats(), PLAN, PROFILE)


def test_a_chain_has_no_use_for_one_more_level() -> None:
    grid = speedup_grid(Acceptance((0.95,)), PROFILE, (1, 2, 3), (1, 2, 3, 4))
    assert "3 nodes cannot use more than 3 levels" in why(grid, PROFILE)
