"""Tests of acceptance by level: how often a child is accepted, by its parent's depth and its own
rank. The expected counts are made by hand, or come from random walks with known rates."""

from __future__ import annotations

import random

import pytest

from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Trial, Verdict
from sequoia.measuring.counted_acceptance import (
    AcceptanceByLevel,
    Counts,
    counting_tree,
    depth_test,
    wilson,
)


def step(tree: Tree, path: tuple[int, ...]) -> StepTrace:
    """A step that accepted `path`. Children are tried in order, up to the accepted one."""
    trials = []
    for i, node in enumerate(path):
        for child in tree.children[node]:
            hit = i + 1 < len(path) and child == path[i + 1]
            trials.append(Trial(child, child, 0.5, 0.5, 0.5, hit))
            if hit:
                break
    none = (None,) * len(tree)
    return StepTrace(
        0,
        4,
        tree,
        tuple(range(len(tree))),
        none,
        none,
        Verdict(path, 7, tuple(trials)),
        (7,),
        {"draft": 0.0, "verify": 0.0, "overhead": 0.0},
    )


def walks(rates: list[list[float]], count: int, seed: int) -> list[StepTrace]:
    """Steps with random accepted paths in a ternary tree. rates[depth][rank] is the probability
    that a node at `depth` has its child of this rank accepted."""
    rng = random.Random(seed)
    tree = Tree.kary(3, 4)
    made = []
    for _ in range(count):
        path = [0]
        while children := tree.children[path[-1]]:
            child = rng.choices(
                [*children, -1], [*rates[len(path) - 1], 1 - sum(rates[len(path) - 1])]
            )[0]
            if child < 0:
                break
            path.append(child)
        made.append(step(tree, tuple(path)))
    return made


def test_counts_of_three_steps_by_hand() -> None:
    tree = Tree((-1, 0, 0, 1, 1, 1))  # the root has children 1 and 2; node 1 has 3, 4, 5
    by_level = AcceptanceByLevel.fold([step(tree, (0, 1, 4)), step(tree, (0, 2)), step(tree, (0,))])
    assert by_level.cells == {
        (0, 0): Counts(3, 1),
        (0, 1): Counts(3, 1),
        (1, 0): Counts(1, 0),
        (1, 1): Counts(1, 1),
        (1, 2): Counts(1, 0),
    }
    assert (by_level.depths, by_level.ranks) == (2, 3)
    assert by_level.by_rank(0) == Counts(4, 1)
    assert by_level.by_rank(0, but=0) == Counts(1, 0)


def test_an_interval_is_that_of_the_literature_and_contains_its_rate() -> None:
    """The first is Newcombe's (1998) example, the second was computed by hand. Rounding errors at
    the ends are guarded against too: 0 of 31 once had an interval starting at 7e-18."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=6e-5)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=6e-5)
    for trials in range(1, 120):
        for successes in range(trials + 1):
            low, high = wilson(successes, trials)
            assert 0 <= low <= successes / trials <= high <= 1, (successes, trials)


def test_without_trials_there_is_no_verdict() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert depth_test(AcceptanceByLevel()).holds is None
    assert depth_test(AcceptanceByLevel.fold([step(Tree.chain(3), (0, 1))])).holds is None


def test_a_rate_that_depends_on_depth_is_found() -> None:
    """Guards against a statistical test that never rejects. The rate 0.8 falls to 0.3 at depth 1;
    the probability of missing that with 400 walks is below 1e-9."""
    by_level = AcceptanceByLevel.fold(
        walks([[0.8, 0.1, 0.0], [0.3, 0.1, 0.0], [0.8, 0.1, 0.0]], 400, 3)
    )
    verdict = depth_test(by_level)
    assert (verdict.here, verdict.elsewhere) == (by_level.cells[1, 0], by_level.by_rank(0, but=1))
    assert verdict.holds is False
    assert (verdict.depth, verdict.rank) == (1, 0)
    assert verdict.here.rate < 0.5 < 0.7 < verdict.elsewhere.rate


def test_rates_that_depend_on_rank_alone_are_seldom_rejected() -> None:
    """Guards against a missing Bonferroni correction: without it, the test would find a dependence
    on depth in about a quarter of these 100 samples. With it, at most 5 are expected, and the
    probability of more than 14 is below 2e-4. The seeds are fixed."""
    rejected = sum(
        depth_test(AcceptanceByLevel.fold(walks([[0.6, 0.2, 0.1]] * 3, 300, seed))).holds is False
        for seed in range(100)
    )
    assert rejected <= 14


def test_a_counting_tree_has_a_wide_root_and_equal_nodes_below_it() -> None:
    tree = counting_tree(5, 2, 4)
    assert len(tree) == 1 + 5 + 2 * 2 + 2 * 2 * 2
    assert [{len(tree.children[node]) for node in level} for level in tree.inner] == [{5}, {2}, {2}]
    assert [[tree.ranks[node] for node in level] for level in tree.inner] == [
        [0],
        [0, 1],
        [0, 1, 0, 1],
    ]
    assert counting_tree(3, 2, 2) == Tree.from_branching([3])
    assert counting_tree(3, 2, 1) == Tree.chain(1)
