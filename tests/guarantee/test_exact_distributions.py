"""The emitted tokens follow the target distribution exactly: every outcome of the real `verify` is
visited with its probability.

Nothing here is random. Fractions are compared with `==`, floats with `==` or within 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from doors import VERIFIERS, Tree, seeded, with_replacement, without_replacement
from exact import (
    EXACT,
    Enumerator,
    Model,
    distribution,
    drafted,
    error,
    fits,
    looked_up,
    over_torch,
    production_models,
    same,
    step,
    table,
    true_distribution,
)
from shapes import ordered_trees

HALF = Fraction(1, 2)
EVERY = pytest.mark.parametrize("name", list(EXACT))
# a draft with any distributions, and one that looks up what followed earlier in the text
DRAFTS = pytest.mark.parametrize("draft", [table, looked_up])
MakeDraft = Callable[[Any, int], Model]


# -- the enumerator itself, with distributions computed by hand ------------------------------------


def test_enumerator_gives_the_probabilities_of_successive_draws() -> None:
    row = np.array([[Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]], dtype=object)
    found = distribution(lambda chance: tuple(chance.without_replacement(row, [2])[0]))
    assert found == {
        (0, 1): Fraction(1, 3),
        (0, 2): Fraction(1, 6),
        (1, 0): Fraction(1, 4),
        (1, 2): Fraction(1, 12),
        (2, 0): Fraction(1, 10),
        (2, 1): Fraction(1, 15),
    }


def test_enumerator_draws_tokens_of_probability_zero_last_and_uniformly() -> None:
    row = np.array([[Fraction(0), Fraction(1), Fraction(0)]], dtype=object)
    assert distribution(lambda chance: tuple(chance.without_replacement(row, [2])[0])) == {
        (1, 0): HALF,
        (1, 2): HALF,
    }


@pytest.mark.parametrize(
    ("d", "r", "share"), [(2, 1, HALF), (1, 2, 1), (1, 1, 1), (1, 0, 0), (0, 0, 0), (0, 1, 1)]
)
def test_enumerator_accepts_as_often_as_u_times_d_is_below_r(
    d: int, r: int, share: Fraction
) -> None:
    found = distribution(lambda chance: chance.accept(Fraction(d), Fraction(r))[0])
    assert found.get(True, 0) == share
    assert sum(found.values()) == 1


def test_enumerator_visits_every_combination_once() -> None:
    even = np.array([[HALF, HALF]], dtype=object)
    found = distribution(lambda chance: (*chance.independent(even, [2])[0], chance.pick(even[0])))
    assert found == {(a, b, c): Fraction(1, 8) for a in (0, 1) for b in (0, 1) for c in (0, 1)}


# -- exact distributions ---------------------------------------------------------------------------


@EVERY
@pytest.mark.parametrize(
    ("vocab", "nodes"), [(3, n) for n in range(1, 6)] + [(2, n) for n in range(1, 7)]
)
@DRAFTS
def test_every_small_tree_has_the_target_distribution(
    draft: MakeDraft, name: str, vocab: int, nodes: int
) -> None:
    trees = [tree for tree in ordered_trees(nodes) if fits(tree, EXACT[name], vocab)]
    assert trees
    for tree in trees:
        for seed in range(3):
            p = table((seed, "p", tree.parents), vocab)
            q = draft((seed, "q", tree.parents), vocab)
            assert error(tree, EXACT[name], p, q) == 0, (tree, seed)


@EVERY
@pytest.mark.parametrize("siblings", [2, 3])
@DRAFTS
def test_siblings_with_many_tables_have_the_target_distribution(
    draft: MakeDraft, name: str, siblings: int
) -> None:
    """After a rejection, p and q may change for the next sibling. A chain has no siblings, so it
    does not test this. A table gives p or q after every context; 20 pairs of tables are tried."""
    for seed in range(20):
        p = table(("p", seed), 4)
        q = draft(("q", seed), 4)
        assert error(Tree.kary(siblings, 2), EXACT[name], p, q) == 0, seed


@EVERY
@pytest.mark.parametrize("parents", [(-1,), (-1, 0), (-1, 0, 0), (-1, 0, 1)])
@DRAFTS
def test_two_steps_have_the_joint_target_distribution(
    draft: MakeDraft, name: str, parents: tuple[int, ...]
) -> None:
    """If a bug reuses noise in the next step, every single step is right. Only the joint
    distribution of the two steps is wrong."""
    for seed in range(3):
        p = table((seed, "p"), 3)
        q = draft((seed, "q"), 3)
        assert error(Tree(parents), EXACT[name], p, q, count=2) == 0, seed


@EVERY
def test_a_step_emits_its_accepted_tokens_and_one_more(name: str) -> None:
    tree = Tree((-1, 0, 0, 1, 2, 2))
    p = same([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    q = same([Fraction(1, 6), HALF, Fraction(1, 3)])

    def length(chance: Enumerator) -> int:
        tokens, _ = drafted(tree, EXACT[name], q, (), chance)
        verdict = EXACT[name].verify(tree, tokens, lambda _: p(()), lambda _: q(()), chance)
        assert verdict.path == tree.path(verdict.path[-1])
        return len(verdict.path)

    assert set(distribution(length)) == {1, 2, 3}
    assert set(map(len, distribution(partial(step, tree, EXACT[name], p, q)))) == {1, 2, 3}


@EVERY
@pytest.mark.parametrize("parents", [(-1, 0, 0, 1, 1), (-1, 0, 0, 2, 2), (-1, 0, 1, 2)])
def test_one_hot_target_accepts_exactly_the_argmax_child(
    name: str, parents: tuple[int, ...]
) -> None:
    """`verify` has no separate mode for temperature 0: with one-hot p it follows the argmax."""
    tree = Tree(parents)

    def top(context: tuple[int, ...]) -> int:
        return (sum(context) + len(context)) % 3

    def p(context: tuple[int, ...]) -> np.ndarray:
        return np.array([Fraction(token == top(context)) for token in range(3)], dtype=object)

    def run(q: Model, chance: Enumerator) -> bool:
        tokens, contexts = drafted(tree, EXACT[name], q, (), chance)
        verdict = EXACT[name].verify(
            tree, tokens, lambda n: p(contexts[n]), lambda n: q(contexts[n]), chance
        )
        path = [0]
        while hit := [
            child for child in tree.children[path[-1]] if tokens[child] == top(contexts[path[-1]])
        ]:
            path.append(hit[0])
        assert verdict.path == tuple(path)
        assert verdict.bonus == top(contexts[path[-1]])
        return len(path) > 1

    seen = [set(distribution(partial(run, table(seed, 3)))) for seed in range(5)]
    assert set().union(*seen) == {True, False}  # acceptance and rejection both occurred


# -- floats, as in real runs ----------------------------------------------------------------------


@pytest.mark.parametrize(("temperature", "top_p"), [(1, 1), (0.6, 0.8), (2, 0.5), (0, 1)])
@pytest.mark.parametrize("name", list(VERIFIERS))
def test_floats_have_the_target_distribution(name: str, temperature: float, top_p: float) -> None:
    """Temperature, top-p and draws use the code of real runs, on torch rows with float32 q and
    float64 p. The only error left is rounding, at most 1e-12."""
    trees = [tree for n in (1, 2, 3, 4) for tree in ordered_trees(n)]
    for tree in trees:
        models = production_models(tree.parents, 4, temperature, top_p)
        assert error(tree, over_torch(name), *models) <= 1e-12, tree


# -- counter-examples computed by hand -------------------------------------------------------------


def _all_rejected(name: str) -> Fraction:
    """Probability that two children drawn from q = [1/2, 1/2] are both rejected if p = [1, 0]."""
    p = same([Fraction(1), Fraction(0)])
    q = same([HALF, HALF])

    def run(chance: Enumerator) -> int:
        tokens, _ = drafted(Tree.kary(2, 2), EXACT[name], q, (), chance)
        return len(
            EXACT[name]
            .verify(Tree.kary(2, 2), tokens, lambda _: p(()), lambda _: q(()), chance)
            .path
        )

    return distribution(run).get(1, Fraction(0))


def test_independent_draws_waste_siblings_and_distinct_ones_do_not() -> None:
    assert _all_rejected("specinfer") == Fraction(1, 4)
    assert _all_rejected("sequoia") == 0


def test_top_k_match_accepts_less_even_if_the_draft_equals_the_target() -> None:
    of_both = same([Fraction(6, 10), Fraction(4, 10)])

    def accepted(name: str) -> Fraction:
        def run(chance: Enumerator) -> bool:
            tokens, _ = drafted(Tree.chain(2), EXACT[name], of_both, (), chance)
            verdict = EXACT[name].verify(
                Tree.chain(2), tokens, lambda _: of_both(()), lambda _: of_both(()), chance
            )
            return len(verdict.path) == 2

        return distribution(run)[True]

    assert accepted("topk") == Fraction(6, 10)
    assert accepted("sequoia") == accepted("specinfer") == 1


# -- edge cases of verification --------------------------------------------------------------------


class Rejecting(Enumerator):
    """Rejects every child. If p equals q, only rounding errors can make a real run do that."""

    def accept(self, d: object, r: object) -> tuple[bool, None]:
        return False, None


def test_a_zero_residual_leaves_the_distribution_unchanged() -> None:
    """An unguarded 0/0 would make every probability NaN."""
    both = np.array([0.5, 0.25, 0.25])
    for name in ("sequoia", "specinfer"):
        found = distribution(
            lambda chance, name=name: step(
                Tree.chain(2), VERIFIERS[name], same(both), same(both), chance
            ),
            Rejecting,
        )
        assert found == {(0,): 0.5, (1,): 0.25, (2,): 0.25}


@pytest.mark.parametrize("reject", [without_replacement, with_replacement])
def test_a_rejection_does_not_change_its_arguments(reject: Callable) -> None:
    """Before the first rejection at a node, the residual is the array p itself. It must not be
    changed in place, because p is still needed afterwards."""
    residual = np.array([0.25, 0.75])
    draft = np.array([0.5, 0.5])
    found = reject(residual, draft, 0)
    assert (residual.tolist(), draft.tolist()) == ([0.25, 0.75], [0.5, 0.5])
    assert found[0].tolist() == [0, 1]
    assert found[2] == 0.25


def test_a_walk_does_not_change_its_arguments() -> None:
    p = np.array([0.25, 0.75])
    q = np.array([1.0, 3.0])  # sums to 4; float32 distributions do not sum to exactly 1 either
    VERIFIERS["sequoia"].verify(Tree.chain(2), [0, 0], lambda _: p, lambda _: q, seeded(0))
    assert (p.tolist(), q.tolist()) == ([0.25, 0.75], [1, 3])


def test_a_draft_with_too_few_tokens_continues_uniformly() -> None:
    """q gives one token all the probability, but the node has two children. The second child is
    drawn uniformly from the other tokens, and verified with this uniform distribution as q."""
    p = same([Fraction(0), HALF, HALF])
    q = same([Fraction(1), Fraction(0), Fraction(0)])
    tree = Tree.kary(2, 2)
    verdict = EXACT["sequoia"].verify(
        tree, [-1, 0, 2], lambda _: p(()), lambda _: q(()), Enumerator([])
    )
    assert [trial.q for trial in verdict.trials] == [1, HALF]
    assert error(tree, EXACT["sequoia"], p, q) == 0


def test_float32_draft_is_made_to_sum_to_one() -> None:
    """Over a large vocabulary, a float32 q can sum to 1 - 4e-5. That must not bias the output."""
    p = same(np.array([0.2, 0.3, 0.5]))
    q = same(np.array([0.5, 0.3, 0.19996], dtype=np.float32))
    for name in ("sequoia", "specinfer"):
        assert error(Tree.kary(2, 2), VERIFIERS[name], p, q) <= 1e-12


# -- the reference ---------------------------------------------------------------------------------


def test_the_target_distribution_sums_to_one_and_has_every_text() -> None:
    found = true_distribution(same([HALF, HALF]), 3)
    assert found == {(a, b, c): Fraction(1, 8) for a in (0, 1) for b in (0, 1) for c in (0, 1)}
