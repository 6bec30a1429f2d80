"""Twelve wrong decoders, called mutants. Each must fail a test that the right decoder passes: a
test that cannot fail proves nothing.

In each mutant, one small piece of the right decoder is replaced (draw, accept, reject, bonus or
noise). Ten mutants are found by the exact output distribution of one step on a tree with siblings,
with table models (see exact.py). The other two are frozen noise, which is found only after two
steps, and a missing bonus token, which is found only by the number of emitted tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from doors import Tree, Verdict, Verifier, mutant, walk_with
from exact import (
    EXACT,
    Enumerator,
    Model,
    Text,
    completed,
    distance,
    distribution,
    drafted,
    error,
    same,
    step,
    table,
    true_distribution,
)
from wrong_rejections import REJECTIONS, Distributions, q_not_masked, q_not_renormalised

RIGHT = EXACT["sequoia"]
SIBLINGS = Tree.kary(3, 2)
# The first 6 of the 20 pairs of tables that test_exact_distributions.py uses. They are enough to
# find these ten mutants.
SEEDS = range(6)


def caught(
    verifier: Verifier = RIGHT, chance: Any = Enumerator, tree: Tree = SIBLINGS
) -> list[bool]:
    """For each pair of tables of SEEDS, whether this decoder's output distribution is wrong."""
    return [
        error(tree, verifier, table(("p", seed), 4), table(("q", seed), 4), chance=chance) != 0
        for seed in SEEDS
    ]


def test_the_right_decoder_passes_the_test_that_finds_the_mutants() -> None:
    assert not any(caught())
    assert not any(caught(tree=Tree((-1, 0, 0, 1, 1))))


# -- acceptance ------------------------------------------------------------------------------------


class OnePercentMore(Enumerator):
    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        return super().accept(d, r * Fraction(101, 100))


class TargetAlone(Enumerator):
    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        return super().accept(Fraction(1), r)


@pytest.mark.parametrize("chance", [OnePercentMore, TargetAlone])
def test_wrong_acceptance_is_found(chance: type[Enumerator]) -> None:
    """A token is accepted with probability 1.01 p/q, or with p, instead of p/q."""
    assert any(caught(chance=chance))


# -- the residual ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reject", REJECTIONS, ids=lambda reject: reject.__name__)
def test_wrong_rejection_is_found(reject: Callable[..., Distributions]) -> None:
    assert any(caught(mutant(RIGHT, verify=walk_with(reject))))


@pytest.mark.parametrize(
    "reject", [q_not_masked, q_not_renormalised], ids=["q_not_masked", "q_not_renormalised"]
)
def test_a_chain_does_not_show_errors_between_siblings(
    reject: Callable[..., Distributions],
) -> None:
    """The test above uses a tree with siblings, because on a chain these two mutants are right."""
    assert not any(caught(mutant(RIGHT, verify=walk_with(reject)), tree=Tree.chain(3)))


# -- draw and bonus --------------------------------------------------------------------------------


def test_drawing_with_replacement_is_found() -> None:
    assert any(caught(mutant(RIGHT, draw=EXACT["specinfer"].draw)))


def bonus_from_the_draft(tree: Tree, tokens: Sequence[int], p: Any, q: Any, chance: Any) -> Verdict:
    return RIGHT.verify(
        tree, tokens, lambda node: p(node) if tree.children[node] else q(node), q, chance
    )


def test_bonus_from_the_draft_is_found() -> None:
    assert any(caught(mutant(RIGHT, verify=bonus_from_the_draft)))


def lengths_agree(emit: Callable[..., Text], p: Model, q: Model) -> bool:
    """Whether every step emits its accepted tokens and one more."""

    def run(chance: Enumerator) -> bool:
        tokens, _ = drafted(SIBLINGS, RIGHT, q, (), chance)
        verdict = RIGHT.verify(SIBLINGS, tokens, lambda _: p(()), lambda _: q(()), chance)
        return len(emit(tokens, verdict)) == len(verdict.path)

    return set(distribution(run)) == {True}


def with_bonus(tokens: Sequence[int], verdict: Verdict) -> Text:
    return (*(tokens[node] for node in verdict.path[1:]), verdict.bonus)


def without_bonus(tokens: Sequence[int], verdict: Verdict) -> Text:
    """The accepted tokens only. If there are none, the token drawn after the rejections."""
    return with_bonus(tokens, verdict)[:-1] if len(verdict.path) > 1 else (verdict.bonus,)


def test_a_missing_bonus_is_lossless_but_found_by_the_length() -> None:
    p = same([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    q = same([Fraction(1, 6), Fraction(1, 2), Fraction(1, 3)])

    def emitted(chance: Enumerator) -> Text:
        tokens, _ = drafted(SIBLINGS, RIGHT, q, (), chance)
        return without_bonus(
            tokens, RIGHT.verify(SIBLINGS, tokens, lambda _: p(()), lambda _: q(()), chance)
        )

    # the output distribution alone would not show it
    assert distance(completed(distribution(emitted), p, 2), true_distribution(p, 2)) == 0
    assert lengths_agree(with_bonus, p, q)
    assert not lengths_agree(without_bonus, p, q)


# -- noise -----------------------------------------------------------------------------------------


class FrozenNoise(Enumerator):
    """Every step reuses the draft noise of the first step: the same draft distribution with the
    same number of children gives the same tokens."""

    def __init__(self, script: Sequence[int] = ()) -> None:
        super().__init__(script)
        self._noise: dict[Any, list[list[int]]] = {}

    def without_replacement(self, q: Any, counts: Sequence[int]) -> list[list[int]]:
        key = (*q.ravel(), *counts)
        if key not in self._noise:
            self._noise[key] = super().without_replacement(q, counts)
        return self._noise[key]


@pytest.mark.parametrize("tree", [Tree.chain(2), Tree.kary(2, 2)], ids=["chain", "siblings"])
def test_frozen_noise_is_right_in_one_step_and_found_in_two(tree: Tree) -> None:
    """q is the same in all contexts here, so the same noise gives the same draft. Each tree draws
    only once per step, so the noise repeats only from step to step."""
    p = table("frozen p", 3)
    q = same([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    assert error(tree, RIGHT, p, q, chance=FrozenNoise) == 0
    assert error(tree, RIGHT, p, q, count=2) == 0
    assert error(tree, RIGHT, p, q, count=2, chance=FrozenNoise) > 0
    assert len(distribution(partial(step, tree, RIGHT, p, q), FrozenNoise)) > 1
