"""Predicted times, and the choice of the fastest tree for a machine, compared with an exhaustive
search."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from doors import (
    Acceptance,
    BadTree,
    Tree,
    best_chain,
    best_plan,
    best_tree,
    dp_table,
    expected_tokens,
    named_profile,
    predict,
    speedup_grid,
    step_seconds,
)
from machines import machine, random_machine

PROFILE = machine()
RATES = Acceptance((0.6, 0.15, 0.08, 0.04, 0.02))


def test_step_seconds_adds_all_parts_of_a_step() -> None:
    """A step has one target pass, one draft pass for each level with children, and the overhead.
    The time of a draft pass depends on how many nodes it processes. Leaves need no draft pass."""
    tree = Tree.sequences(32, 2)  # 65 nodes, passes of 1 and 32
    assert step_seconds(tree, PROFILE) == pytest.approx(
        0.03 + 0.03 / 192 + 0.0005 + 0.0006 + 0.001 + 0.00064
    )
    assert step_seconds(Tree.chain(1), PROFILE) == PROFILE.plain_seconds
    levels = machine(level_overhead=0.01)
    assert step_seconds(tree, levels) == pytest.approx(step_seconds(tree, PROFILE) + 2 * 0.01)
    assert levels.plain_seconds == PROFILE.plain_seconds


def test_prediction_of_any_tree() -> None:
    plan = predict(Tree.chain(4), RATES, PROFILE)
    assert (plan.tree, plan.expected_tokens) == (
        Tree.chain(4),
        pytest.approx(1 + 0.6 + 0.36 + 0.216),
    )
    assert plan.predicted_seconds == step_seconds(plan.tree, PROFILE)
    assert plan.predicted_speedup == pytest.approx(
        plan.expected_tokens * 0.021 / plan.predicted_seconds
    )
    assert predict(Tree.chain(1), RATES, PROFILE).predicted_speedup == 1


def test_best_plan_is_the_best_of_all_sizes_and_level_caps() -> None:
    """Compared with a search over every (n, levels). Guards two shortcuts of best_plan: it updates
    the step time after each node added to a tree, and it stops when more levels change nothing."""
    rng = random.Random(3)
    for _ in range(12):
        profile = random_machine(rng)
        acceptance = Acceptance(
            tuple(sorted((rng.random() * 0.19 for _ in range(5)), reverse=True))
        )
        if rng.random() < 0.5:
            acceptance = Acceptance((rng.uniform(0.3, 0.8), *acceptance.rates[1:2]))
        trees = [Tree.chain(1)] + [
            best_tree(acceptance, n, levels) for levels in range(2, 8) for n in range(1, 25)
        ]
        best = max(predict(tree, acceptance, profile).predicted_speedup for tree in trees)
        plan = best_plan(acceptance, profile, 24, 7)
        assert plan == predict(plan.tree, acceptance, profile)
        assert plan.predicted_speedup == pytest.approx(best, rel=1e-11)


def test_the_best_chain_is_the_best_of_all_chains() -> None:
    rng = random.Random(4)
    for _ in range(12):
        profile = random_machine(rng)
        acceptance = Acceptance((rng.uniform(0.1, 0.9), 0.05))
        chains = [predict(Tree.chain(n), acceptance, profile) for n in range(1, 25)]
        best = max(plan.predicted_speedup for plan in chains)
        found = best_chain(acceptance, profile, 24)
        assert found == predict(found.tree, acceptance, profile)
        assert found.tree == Tree.chain(len(found.tree))
        assert found.predicted_speedup == pytest.approx(best, rel=1e-11)


def test_a_chain_has_no_more_levels_than_a_planned_tree() -> None:
    """By default, both have the same maximum number of levels, so that comparing them is fair."""
    free = machine(draft_seconds=[(1, 1e-9, 0.0)], target_seconds=[(1, 0.02, 0.0)])
    certain = Acceptance((0.99,))
    assert len(best_chain(certain, free).tree) == best_plan(certain, free).tree.levels == 16
    assert len(best_chain(certain, free, 40).tree) == 40
    assert len(best_chain(Acceptance((0.0,)), free).tree) == 1
    with pytest.raises(BadTree, match="max_nodes: 0"):
        best_chain(certain, free, 0)


def test_a_chain_is_timed_as_a_chain_even_if_no_token_is_accepted() -> None:
    """Each further node of a chain costs a draft pass and here adds no tokens, so the shortest
    allowed chain is the fastest."""
    slow = machine(
        draft_seconds=[(1, 0.02, 0.0)],
        target_seconds=[(1, 0.02, 0.0)],
        overhead_seconds=0.0,
    )
    assert len(best_chain(Acceptance((0.0,)), slow, 24, slack=0.1, min_nodes=2).tree) == 2


def test_with_slack_the_best_chain_is_the_longest_of_the_fast_ones() -> None:
    """slack: the share by which a speed-up may be below the highest. Trees are planned with slack.
    If chains were not, a tree would be compared with a shorter chain."""
    rng = random.Random(6)
    for _ in range(12):
        profile = random_machine(rng)
        acceptance = Acceptance((rng.uniform(0.1, 0.9), 0.05))
        speedups = [
            predict(Tree.chain(n), acceptance, profile).predicted_speedup for n in range(1, 25)
        ]
        least = max(0.95 * max(speedups), 1)
        longest = max(n for n, speedup in enumerate(speedups, start=1) if speedup >= least)
        assert len(best_chain(acceptance, profile, 24, slack=0.05).tree) == longest


def test_the_best_chain_of_at_least_two_nodes_may_be_slower_than_plain_decoding() -> None:
    useless = Acceptance((0.0,))
    plan = best_chain(useless, PROFILE, slack=0.01, min_nodes=2)
    assert len(plan.tree) == 2
    assert plan.predicted_speedup < 1
    with pytest.raises(BadTree, match="min_nodes: 9"):
        best_chain(useless, PROFILE, 8, min_nodes=9)


def test_best_plan_reaches_the_table_value_of_its_size_and_levels() -> None:
    plan = best_plan(RATES, PROFILE)
    table = dp_table(RATES, len(plan.tree), plan.tree.levels)
    assert len(plan.tree) > 8
    assert plan.expected_tokens == pytest.approx(
        table.best(len(plan.tree), plan.tree.levels)[0], abs=1e-12
    )


def test_the_plan_is_plain_decoding_if_speculation_does_not_pay() -> None:
    slow_draft = machine(draft_seconds=[(1, 0.05, 0.0)])
    for acceptance, profile in (
        (RATES, slow_draft),
        (Acceptance((0.0,)), PROFILE),
        (Acceptance((1e-6, 0.0)), PROFILE),
    ):
        plan = best_plan(acceptance, profile)
        assert (plan.tree, plan.predicted_speedup) == (Tree.chain(1), 1.0)


def test_the_hardware_determines_the_size() -> None:
    """If verification takes equally long for any number of nodes, the tree is as large as allowed.
    If each further node takes much time, the tree is small."""
    free = machine(target_seconds=[(1, 0.02, 0.0)], overhead_seconds=0.0)
    dear = machine(target_seconds=[(1, 0.02, 0.0), (2, 0.026, 0.0)])
    assert len(best_plan(RATES, free, 96, 12).tree) == 96
    assert 1 < len(best_plan(RATES, dear, 96, 12).tree) < 6


def test_bounds_are_kept() -> None:
    perfect = Acceptance((1.0,))
    assert best_plan(perfect, PROFILE, 200, 9).tree == Tree.chain(9)
    assert best_plan(perfect, PROFILE, 5, 9).tree == Tree.chain(5)
    assert (
        best_plan(perfect, PROFILE, 200, 1).tree
        == best_plan(perfect, PROFILE, 1, 9).tree
        == Tree.chain(1)
    )


def test_equal_speed_goes_to_the_smaller_tree() -> None:
    """A second child takes no time on this machine. But the acceptance vector has no rate for it.
    So it adds no tokens and is not planned."""
    free = machine(target_seconds=[(1, 0.02, 0.0)], overhead_seconds=0.0)
    assert best_plan(Acceptance((0.5,)), free, 64, 3).tree == Tree.chain(3)
    nearly = machine(
        overhead_seconds=0.0, target_seconds=[(1, 1e6, 0.0)], draft_seconds=[(1, 1e-12, 0.0)]
    )
    # a gain within rounding is no gain
    assert best_plan(Acceptance((1e-13,)), nearly).tree == Tree.chain(1)


def test_noisy_vectors_are_smoothed_before_planning() -> None:
    noisy = Acceptance((0.5, 0.1, 0.2, 0.0, 0.05))
    plan = best_plan(noisy, PROFILE)
    assert plan == best_plan(noisy.smoothed(), PROFILE)
    assert plan.expected_tokens == expected_tokens(plan.tree, noisy.smoothed())


@pytest.mark.parametrize(
    ("bounds", "named"),
    [
        ((0, 4), "max_nodes: 0 is not a whole number from 1 to 1024"),
        ((1025, 4), "max_nodes: 1025 is not"),
        ((8, 0), "max_levels: 0 is not a whole number from 1 to 1024"),
        ((8, 2.5), "max_levels: 2.5"),
    ],
)
def test_invalid_bounds_are_rejected(bounds: Any, named: str) -> None:
    with pytest.raises(BadTree) as caught:
        best_plan(RATES, PROFILE, *bounds)
    assert named in str(caught.value)


def test_grid_holds_the_best_tree_of_each_cell() -> None:
    grid = speedup_grid(Acceptance((0.5, 0.1, 0.2)), PROFILE, [1, 4, 30], [1, 2, 5])
    smooth = Acceptance((0.5, 0.1, 0.2)).smoothed()
    assert (grid.sizes, grid.levels) == ((1, 4, 30), (1, 2, 5))
    for i, levels in enumerate(grid.levels):
        for j, n in enumerate(grid.sizes):
            if levels == 1 < n:
                assert grid.plans[i][j] is None
                assert math.isnan(grid.speedups[i, j])
            else:
                assert grid.plans[i][j] == predict(best_tree(smooth, n, levels), smooth, PROFILE)
                assert grid.speedups[i, j] == grid.plans[i][j].predicted_speedup
    assert speedup_grid(RATES, PROFILE, [], [3]).speedups.shape == (1, 0)


@pytest.mark.parametrize(
    ("sizes", "levels", "named"),
    [([0], [2], "size: 0 is not"), ([4], [1025], "levels: 1025 is not")],
)
def test_invalid_grids_are_rejected(sizes: list[int], levels: list[int], named: str) -> None:
    with pytest.raises(BadTree, match=named):
        speedup_grid(RATES, PROFILE, sizes, levels)


def test_a_slack_of_the_size_of_rounding_changes_nothing() -> None:
    acceptance, machine = Acceptance((0.7, 0.1)), named_profile("a100-llama-2-7b-eager")
    assert best_plan(acceptance, machine, slack=1e-13) == best_plan(acceptance, machine)


@pytest.mark.parametrize("slack", [0.02, 0.05, 0.2])
def test_slack_gains_tokens_and_costs_at_most_that_share(slack: float) -> None:
    """Compared with the best trees of all sizes and numbers of levels."""
    acceptance = Acceptance.power_law(1.5, 0.4, 16)
    machine = PROFILE
    fastest = best_plan(acceptance, machine, 64, 8)
    roomy = best_plan(acceptance, machine, 64, 8, slack)
    plans = [
        predict(best_tree(acceptance, n, levels), acceptance, machine)
        for levels in range(2, 9)
        for n in range(2, 65)
    ]
    within = [
        plan for plan in plans if plan.predicted_speedup >= fastest.predicted_speedup * (1 - slack)
    ]
    assert roomy.predicted_speedup >= fastest.predicted_speedup * (1 - slack)
    assert roomy.expected_tokens == pytest.approx(max(plan.expected_tokens for plan in within))
    assert roomy.expected_tokens >= fastest.expected_tokens


def test_slack_never_goes_below_plain_decoding() -> None:
    """On some of these 200 machines drafting hardly pays: within the slack of the fastest tree
    there are trees that are slower than plain decoding."""
    slow = [machine(draft_seconds=((1, seconds, 0.0),)) for seconds in np.linspace(1e-4, 0.05, 200)]
    plans = [
        (
            best_plan(Acceptance((0.7, 0.1)), one, 64, 8),
            best_plan(Acceptance((0.7, 0.1)), one, 64, 8, 0.1),
        )
        for one in slow
    ]
    assert any(1 < fastest.predicted_speedup < 1.05 for fastest, _ in plans)
    assert all(roomy.predicted_speedup >= 1 - 1e-12 for _, roomy in plans)


@pytest.mark.parametrize("slack", [-0.1, 1.5, math.nan, True, "a"])
def test_slack_out_of_bounds_is_rejected(slack: object) -> None:
    with pytest.raises(BadTree, match="slack"):
        best_plan(Acceptance((0.5,)), PROFILE, slack=slack)
