"""What a grid of plans shows: the knee, the fastest tree and its rivals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.tree import Tree
from sequoia.planning.compare_plans import (
    chain_gains,
    chosen,
    knee,
    runner_up,
    tree_elsewhere,
)
from sequoia.planning.named_profiles import named_profile
from sequoia.planning.plan_for_machine import (
    best_chain,
    best_plan,
    speedup_grid,
)
from sequoia.planning.simulated_step_times import SimulatedClock
from tests.planned import GRID, LEVELS, PROFILE, RATES


def test_the_knee_is_the_first_size_at_twice_the_time() -> None:
    n = knee(PROFILE)
    assert (
        PROFILE.verify_seconds(n) >= 2 * PROFILE.verify_seconds(1) > PROFILE.verify_seconds(n - 1)
    )
    assert knee(replace(PROFILE, target_seconds=((1, 0.02, 0), (64, 0.0399, 0)))) is None
    assert knee(replace(PROFILE, target_seconds=((1, 0.02, 0),))) is None
    assert knee(replace(PROFILE, target_seconds=((1, 0.02, 0), (2, 0.04, 0)))) == 2


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


def test_a_chain_is_explained_by_what_its_last_node_adds() -> None:
    acceptance = Acceptance((0.8, 0.06))
    assert chain_gains(Tree.chain(4), acceptance) == pytest.approx((0.8**3, 0.06))
    for tree in (Tree.chain(1), Tree((-1, 0, 0)), Tree.sequences(2, 3)):
        assert chain_gains(tree, acceptance) is None


def test_the_other_machine_is_the_first_on_which_the_tree_is_clearly_ahead() -> None:
    rates = Acceptance((0.9, 0.05, 0.01))
    clocks = [
        SimulatedClock(named_profile(name), name)
        for name in ("m1-max-qwen3-8b", "a100-llama-2-7b-eager", "l40-llama-2-70b-offloaded")
    ]
    found = tree_elsewhere(rates, clocks)
    assert found is not None
    profile = clocks[1].profile
    tree = best_plan(rates, profile).predicted_speedup
    assert found.clock == "a100-llama-2-7b-eager"
    assert found.ratio == pytest.approx(tree / best_chain(rates, profile).predicted_speedup)
    assert tree_elsewhere(rates, clocks[:1]) is None
