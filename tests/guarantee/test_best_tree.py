"""The two algorithms for the best tree, the table and the heap. They are compared with brute force,
with each other, and with known values for the acceptance vector in the paper's appendix."""

from __future__ import annotations

import math
import random
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from doors import (
    Acceptance,
    BadAcceptance,
    BadTree,
    Tree,
    best_first,
    best_tree,
    dp_table,
    expected_tokens,
    limit_tables,
    stored_levels,
)
from shapes import ordered_trees

APP_E = Acceptance((
    0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043, 0.0035, 0.0026, 0.0025, 0.0021,
    0.0016, 0.0014, 0.0010, 0.0010, 0.0010, 0.0007, 0.0007, 0.0006, 0.0007, 0.0006, 0.0004, 0.0004,
    0.0005, 0.0006, 0.0004, 0.0003, 0.0002, 0.0004, 0.0001,
))  # fmt: skip
NODES = 8


def random_acceptance(rng: random.Random, length: int) -> Acceptance:
    """A random vector with a sum of at most 1. It may have zeros and equal rates."""
    weights = [rng.choice([0.0, 0.25, rng.random()]) for _ in range(length)]
    share = rng.choice([1.0, rng.random()]) / (sum(weights) or 1.0)
    return Acceptance(tuple(w * share * (1 - 1e-12) for w in weights))


def random_monotone(rng: random.Random, length: int) -> Acceptance:
    return Acceptance(tuple(sorted(random_acceptance(rng, length).rates, reverse=True)))


def product_sum(tree: Tree, acceptance: Acceptance) -> float:
    """The expected tokens of `tree`, computed independently of best_tree.py: the product of the
    rates along the path to each node, summed over all nodes."""
    rates = (*acceptance.rates, *[0.0] * len(tree))
    return sum(
        math.prod(rates[tree.ranks[v]] for v in tree.path(node)[1:]) for node in range(len(tree))
    )


@cache
def small_trees(n: int) -> tuple[Tree, ...]:
    return tuple(ordered_trees(n))


def brute_force(acceptance: Acceptance) -> dict[tuple[int, int, int], float]:
    """T[n, l, b], as best_tree.py defines it, for n up to NODES, found by trying all trees. Cells
    without a tree are missing."""
    cells: dict[tuple[int, int, int], float] = {}
    for n in range(1, NODES + 1):
        for tree in small_trees(n):
            value = product_sum(tree, acceptance)
            branches = len(tree.children[0])
            for levels in range(tree.levels, NODES + 1):
                key = n, levels, branches
                cells[key] = max(cells.get(key, value), value)
    return cells


@pytest.mark.parametrize("seed", range(10))
def test_table_equals_brute_force_for_any_vector(seed: int) -> None:
    """Compares every cell for n <= 8, with all level caps and branch counts, for vectors of 1 to 9
    rates in any order. Guards against an index off by one anywhere in the recurrence, wrong values
    for children beyond the vector, and trees deeper than the level cap."""
    rng = random.Random(seed)
    acceptance = random_acceptance(rng, 1 + seed % 9)
    exact = brute_force(acceptance)
    table = dp_table(acceptance, NODES, NODES)
    for n in range(1, NODES + 1):
        for levels in range(1, NODES + 1):
            cells = [exact.get((n, levels, b), -math.inf) for b in range(NODES)]
            assert [table.value(n, levels, b) for b in range(NODES)] == pytest.approx(
                cells, abs=1e-12
            )
            value, branches = table.best(n, levels)
            assert value == pytest.approx(max(cells), abs=1e-12)
            assert cells[branches] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_trees_reach_the_values_of_their_cells(seed: int) -> None:
    """The tree of each feasible cell has the cell's size, branches and value, and at most its
    levels. The tree that best_tree returns has the largest value of all trees that fit."""
    acceptance = random_acceptance(random.Random(100 + seed), 1 + seed % 9)
    exact = brute_force(acceptance)
    for cap in (2, 3, NODES):
        table = dp_table(acceptance, NODES, cap)
        for (n, levels, branches), value in exact.items():
            if levels <= cap:
                tree = table.tree(n, levels, branches)
                assert (len(tree), len(tree.children[0])) == (n, branches)
                assert tree.levels <= levels
                assert product_sum(tree, acceptance) == pytest.approx(value, abs=1e-12)
    for n in range(2, NODES + 1):
        for levels in (2, 3, 5, None):
            tree = best_tree(acceptance, n, levels)
            best = max(
                value
                for (size, cap, _), value in exact.items()
                if size == n and cap == (levels or NODES)
            )
            assert (len(tree), tree.levels <= (levels or NODES)) == (n, True)
            assert expected_tokens(tree, acceptance) == pytest.approx(best, abs=1e-12)


def test_a_table_without_a_limit_equals_one_with_all_levels() -> None:
    rng = random.Random(5)
    for length in (1, 2, 5, 30):
        acceptance = random_acceptance(rng, length)
        free = dp_table(acceptance, 25)
        capped = dp_table(acceptance, 25, 25)
        for n in range(1, 26):
            assert free.best(n, n)[0] == pytest.approx(capped.best(n, 25)[0], abs=1e-12)
            assert [free.value(n, 25, b) for b in range(25)] == pytest.approx(
                [capped.value(n, 25, b) for b in range(25)]
            )
            assert product_sum(free.tree(n, n), acceptance) == pytest.approx(
                free.best(n, n)[0], abs=1e-12
            )


def test_split_is_the_recurrence() -> None:
    """rest + rate * below is the value of every cell that has a split, in two tables. Each of the
    three is what the docstring of Split says."""
    for acceptance in (Acceptance((0.3, 0.4, 0.0, 0.2)), Acceptance((0.6,))):
        table = dp_table(acceptance, 9, 4)
        for n in range(2, 10):
            for levels in range(2, 5):
                for branches in range(1, 9):
                    if table.value(n, levels, branches) > -math.inf:
                        split = table.split(n, levels, branches)
                        assert table.value(n, levels, branches) == pytest.approx(
                            split.rest + split.rate * split.below, abs=1e-15
                        )
                        assert split.rest == table.value(n - split.nodes, levels, branches - 1)
                        assert (split.below, split.branches) == table.best(split.nodes, levels - 1)
                        assert split.rate == ((*acceptance.rates, *[0.0] * 9)[branches - 1])


@pytest.mark.parametrize("levels", [2, 4, 18, 40])
def test_heap_equals_the_table_for_non_increasing_vectors(levels: int) -> None:
    """The values agree up to rounding for all n up to 1,024, for the smoothed vector of the paper's
    appendix and for one with nearly equal rates."""
    for acceptance in (APP_E.smoothed(), Acceptance((0.2, 0.2, 0.2, 0.15, 0.1))):
        table = dp_table(acceptance, 1024, levels)
        growth = best_first(acceptance, 1024, levels)
        best = [table.best(n, levels)[0] for n in range(1, 1025)]
        assert np.abs(np.array(best) - growth.totals).max() <= 1e-12 * 1024


def test_heap_equals_the_table_without_a_limit_on_levels() -> None:
    rng = random.Random(6)
    for acceptance in (
        APP_E.smoothed(),
        Acceptance((0.97, 0.01)),
        *(random_monotone(rng, 12) for _ in range(3)),
    ):
        table = dp_table(acceptance, 1024)
        growth = best_first(acceptance, 1024)
        best = [table.best(n, n)[0] for n in range(1, 1025)]
        assert np.abs(np.array(best) - growth.totals).max() <= 1e-12 * 1024


def test_growth_is_nested_and_every_prefix_is_a_tree_with_its_total() -> None:
    """The gains never increase. The first n nodes of the growth form a tree, and its expected
    tokens are the n-th total."""
    rng = random.Random(7)
    for levels in (2, 3, None):
        acceptance = random_monotone(rng, 6)
        growth = best_first(acceptance, 60, levels)
        assert all(left >= right for left, right in pairwise(growth.gains))
        assert len(growth) == len(growth.depths) == 60
        for n in range(1, 61):
            tree = growth.tree(n)
            assert (len(tree), tree.levels) == (n, max(growth.depths[:n]) + 1)
            assert product_sum(tree, acceptance) == pytest.approx(growth.totals[n - 1], abs=1e-12)
        assert max(growth.depths) < (levels or 60)


def test_of_equal_nodes_the_less_deep_comes_first() -> None:
    """A node that adds no expected tokens must not cost a draft pass. So such nodes make the tree
    wider, not deeper."""
    assert best_first(Acceptance((0.5, 0.0)), 4, 2).tree(4).parents == (-1, 0, 0, 0)
    assert best_first(Acceptance((0.0,)), 4).tree(4).parents == (-1, 0, 0, 0)


def test_known_values_with_the_vector_of_the_appendix() -> None:
    free = dp_table(APP_E, 512)
    capped = dp_table(APP_E, 1024, 18)
    assert [round(free.best(n, n)[0], 3) for n in (64, 128, 256, 512)] == [
        5.917,
        6.607,
        7.289,
        7.968,
    ]
    assert [round(capped.best(n, 18)[0], 3) for n in (768, 1024)] == [8.337, 8.609]
    assert expected_tokens(best_tree(APP_E, 768, 18), APP_E) == pytest.approx(
        capped.best(768, 18)[0], abs=1e-12
    )


def test_one_dominant_rate_gives_a_chain_and_similar_rates_give_a_wide_tree() -> None:
    """Popular explanations say the opposite."""
    assert best_tree(Acceptance((0.9, 0.04, 0.02, 0.01)), 8) == Tree.chain(8)
    assert len(best_tree(Acceptance((0.35, 0.2, 0.12, 0.08)), 8).children[0]) == 4


def test_the_heap_would_be_wrong_for_an_increasing_vector() -> None:
    """Why best_tree uses the table for such a vector: with rates (0, 0.9) a first child adds no
    expected tokens, but a node cannot have a second child without a first one."""
    acceptance = Acceptance((0.0, 0.9))
    tree = best_tree(acceptance, 5)
    assert tree.parents == (-1, 0, 0, 2, 2)
    assert expected_tokens(tree, acceptance) == pytest.approx(1 + 0.9 + 0.81)
    with pytest.raises(BadAcceptance, match=r"rates\[1\] = 0.9 is above rates\[0\] = 0; smooth"):
        best_first(acceptance, 5)


def test_plateaus_of_fixed_shapes() -> None:
    """expected_tokens equals the closed forms for a chain, independent sequences and the binary
    tree. If the first two rates sum to less than 1, then for sequences and the binary tree it stays
    below a limit that is independent of length and depth."""
    rng = random.Random(8)
    for _ in range(50):
        acceptance = random_monotone(rng, rng.randint(2, 9))
        rates = acceptance.rates
        k = rng.randint(1, len(rates))
        length = rng.randint(1, 12)
        geometric = sum(rates[0] ** i for i in range(length))  # (1 - a1^L) / (1 - a1)
        assert expected_tokens(Tree.chain(length), acceptance) == pytest.approx(geometric)
        assert expected_tokens(Tree.sequences(k, length), acceptance) == pytest.approx(
            1 + sum(rates[:k]) * geometric
        )
        two = rates[0] + rates[1]
        assert expected_tokens(Tree.kary(2, 6), acceptance) == pytest.approx(
            sum(two**i for i in range(6))
        )
        if two < 0.999:
            assert expected_tokens(Tree.kary(2, 9), acceptance) <= 1 / (1 - two) + 1e-12
            assert (
                expected_tokens(Tree.sequences(k, length), acceptance)
                <= 1 / (1 - rates[0]) + 1 + 1e-12
            )


def test_children_beyond_the_vector_add_no_expected_tokens() -> None:
    assert expected_tokens(Tree((-1, 0, 0, 2)), Acceptance((0.5,))) == 1.5
    assert expected_tokens(Tree((-1,)), Acceptance((0.5,))) == 1.0


def test_chains_of_the_largest_size_do_not_exhaust_the_stack() -> None:
    """1,024 levels, where recursion would fail. The second vector increases at its end, so
    best_tree uses the table."""
    chain = Tree.chain(1024)
    assert best_tree(Acceptance((0.99,)), 1024) == chain
    assert best_tree(Acceptance((0.99, 0.0, 1e-9)), 1024) == chain
    assert dp_table(Acceptance((0.99,)), 1024).tree(1024, 1024, 1) == chain


def test_one_node_is_the_root() -> None:
    for acceptance in (Acceptance((0.5,)), Acceptance((0.1, 0.2))):
        assert (
            best_tree(acceptance, 1)
            == best_tree(acceptance, 1, 1)
            == best_tree(acceptance, 1, 7)
            == Tree.chain(1)
        )
        assert dp_table(acceptance, 1, 1).best(1, 1) == (1.0, 0)


UP = Acceptance((0.1, 0.2))
DOWN = Acceptance((0.2, 0.1))
TABLE = dp_table(UP, 6, 3)
FREE = dp_table(UP, 6)
BAD: dict[str, tuple[Any, str]] = {
    "no nodes": (lambda: best_tree(DOWN, 0), "nodes: 0 is not a whole number from 1 to 1024"),
    "many nodes": (lambda: best_tree(UP, 1025), "nodes: 1025 is not a whole number from 1 to 1024"),
    "no levels": (lambda: best_tree(DOWN, 4, 0), "levels: 0 is not a whole number from 1 to 1024"),
    "one level, heap": (lambda: best_tree(DOWN, 2, 1), "2 nodes do not fit in 1 level"),
    "one level, table": (
        lambda: best_tree(UP, 2, 1),
        "no tree has 2 nodes, 1 root child and at most 1 level",
    ),
    "growth too small": (
        lambda: best_first(DOWN, 4).tree(5),
        "nodes of the tree: 5 is not a whole number from 1 to 4",
    ),
    "n": (lambda: TABLE.value(7, 3, 1), "n: 7 is not a whole number from 1 to 6"),
    "levels": (lambda: TABLE.best(6, 4), "levels: 4 is not a whole number from 1 to 3"),
    "branches": (lambda: TABLE.tree(6, 3, 6), "branches: 6 is not a whole number from 0 to 5"),
    "too few levels for a table without a limit": (
        lambda: FREE.value(6, 5, 1),
        "levels: 5 is not a whole number from 6 to 1024",
    ),
    "no such tree": (
        lambda: TABLE.tree(6, 2, 2),
        "no tree has 6 nodes, 2 root children and at most 2 levels",
    ),
    "split of a leaf": (lambda: TABLE.split(1, 3, 0), "has no split: the root has no child"),
    "split of nothing": (lambda: TABLE.split(6, 2, 2), "has no split: no such tree exists"),
}


@pytest.mark.parametrize("what", list(BAD))
def test_invalid_arguments_are_rejected_with_value_and_bound(what: str) -> None:
    ask, named = BAD[what]
    with pytest.raises(BadTree) as caught:
        ask()
    assert named in str(caught.value)


def test_a_table_that_is_too_large_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is lowered so that the test need not fill 64 MiB."""
    limit_tables(monkeypatch, 1000)
    with pytest.raises(
        BadTree, match="20 nodes, 15 levels and 6 branches has more than the 1000 cells"
    ):
        dp_table(Acceptance((0.9, 0.01, 0.01, 0.01, 0.01, 0.01)), 20, 15)


def test_a_limit_equal_to_the_size_costs_no_table_of_many_levels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A limit of 20 levels does not restrict a tree of 20 nodes. So best_tree uses a table for any
    depth. A table with a limit would exceed MAX_CELLS here."""
    limit_tables(monkeypatch, 150)
    assert (
        best_tree(Acceptance((0.9, 0.0, 0.01)), 20, 20)
        == best_tree(Acceptance((0.9, 0.0, 0.01)), 20)
        == Tree.chain(20)
    )


def test_a_table_stops_where_more_levels_change_nothing() -> None:
    table = dp_table(APP_E, 64, 64)
    assert stored_levels(table) < 30
    assert table.best(64, 64) == dp_table(APP_E, 64).best(64, 64)
    assert table.tree(64, 64).levels < 30
