"""Twelve wrong decoders, each killed by the very check that the right one passes: a check that
cannot fail proves nothing.

A mutant is a small replacement for one piece (draw, accept, reject, bonus, noise). All but two are
killed by the exact law of one step over the suite's sibling tables; frozen noise needs two steps,
and a missing bonus token needs the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
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

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.algorithm.verifiers.walk import walk

RIGHT = EXACT["sequoia"]
SIBLINGS = Tree.kary(3, 2)
SEEDS = range(6)  # of the twenty tables the suite runs; each mutant falls at the first few


def killed(
    verifier: Verifier = RIGHT, chance: Any = Enumerator, tree: Tree = SIBLINGS
) -> list[bool]:
    """For each of the suite's sibling tables, whether its law check refuses this decoder."""
    return [
        error(tree, verifier, table(("p", seed), 4), table(("q", seed), 4), chance=chance) != 0
        for seed in SEEDS
    ]


@pytest.mark.slow
def test_the_right_decoder_passes_the_check_that_kills_the_mutants() -> None:
    assert not any(killed())
    assert not any(killed(tree=Tree((-1, 0, 0, 1, 1))))


# -- acceptance ------------------------------------------------------------------------------------


class OnePercentMore(Enumerator):
    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        return super().accept(d, r * Fraction(101, 100))


class TargetAlone(Enumerator):
    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        return super().accept(Fraction(1), r)


@pytest.mark.parametrize("chance", [OnePercentMore, TargetAlone])
def test_wrong_acceptance_is_killed(chance: type[Enumerator]) -> None:
    """Accept one per cent too often; accept with p in place of p/q."""
    assert any(killed(chance=chance))


# -- what a rejection leaves -----------------------------------------------------------------------


@pytest.mark.parametrize("reject", REJECTIONS, ids=lambda reject: reject.__name__)
def test_wrong_rejection_is_killed(reject: Callable[..., Distributions]) -> None:
    assert any(killed(replace(RIGHT, verify=partial(walk, reject=reject))))


@pytest.mark.parametrize(
    "reject", [q_not_masked, q_not_renormalised], ids=["q_not_masked", "q_not_renormalised"]
)
def test_a_chain_cannot_see_the_bookkeeping_between_siblings(
    reject: Callable[..., Distributions],
) -> None:
    """Why the suite runs siblings: on a chain these two mutants are no mutants."""
    assert not any(killed(replace(RIGHT, verify=partial(walk, reject=reject)), tree=Tree.chain(3)))


# -- draw and bonus --------------------------------------------------------------------------------


def test_drawing_with_replacement_is_killed() -> None:
    assert any(killed(replace(RIGHT, draw=EXACT["specinfer"].draw)))


def bonus_from_the_draft(tree: Tree, tokens: Sequence[int], p: Any, q: Any, chance: Any) -> Verdict:
    return RIGHT.verify(
        tree, tokens, lambda node: p(node) if tree.children[node] else q(node), q, chance
    )


def test_bonus_from_the_draft_is_killed() -> None:
    assert any(killed(replace(RIGHT, verify=bonus_from_the_draft)))


def lengths_agree(emit: Callable[..., Text], p: Model, q: Model) -> bool:
    """The suite's length check: every step emits its accepted tokens and one more."""

    def run(chance: Enumerator) -> bool:
        tokens, _ = drafted(SIBLINGS, RIGHT, q, (), chance)
        verdict = RIGHT.verify(SIBLINGS, tokens, lambda _: p(()), lambda _: q(()), chance)
        return len(emit(tokens, verdict)) == len(verdict.path)

    return set(distribution(run)) == {True}


def with_bonus(tokens: Sequence[int], verdict: Verdict) -> Text:
    return (*(tokens[node] for node in verdict.path[1:]), verdict.bonus)


def without_bonus(tokens: Sequence[int], verdict: Verdict) -> Text:
    """Keeps the correction after a rejection and drops the extra token after a leaf."""
    return with_bonus(tokens, verdict)[:-1] if len(verdict.path) > 1 else (verdict.bonus,)


def test_no_bonus_is_lossless_and_killed_by_its_length() -> None:
    p = same([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    q = same([Fraction(1, 6), Fraction(1, 2), Fraction(1, 3)])

    def emitted(chance: Enumerator) -> Text:
        tokens, _ = drafted(SIBLINGS, RIGHT, q, (), chance)
        return without_bonus(
            tokens, RIGHT.verify(SIBLINGS, tokens, lambda _: p(()), lambda _: q(()), chance)
        )

    # the law check alone would let it pass
    assert distance(completed(distribution(emitted), p, 2), true_distribution(p, 2)) == 0
    assert lengths_agree(with_bonus, p, q)
    assert not lengths_agree(without_bonus, p, q)


# -- noise -----------------------------------------------------------------------------------------


class FrozenNoise(Enumerator):
    """The draft's noise of the first step again at every later one: the same law at the same
    place, the same tokens."""

    def __init__(self, script: Sequence[int] = ()) -> None:
        super().__init__(script)
        self._noise: dict[Any, list[list[int]]] = {}

    def without_replacement(self, q: Any, counts: Sequence[int]) -> list[list[int]]:
        key = (*q.ravel(), *counts)
        if key not in self._noise:
            self._noise[key] = super().without_replacement(q, counts)
        return self._noise[key]


@pytest.mark.parametrize("tree", [Tree.chain(2), Tree.kary(2, 2)], ids=["chain", "siblings"])
def test_frozen_noise_is_right_in_one_step_and_killed_by_two(tree: Tree) -> None:
    """q is alike in all contexts here, so that the same noise means the same draft; the trees
    draft once a step."""
    p = table("frozen p", 3)
    q = same([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    assert error(tree, RIGHT, p, q, chance=FrozenNoise) == 0
    assert error(tree, RIGHT, p, q, count=2) == 0
    assert error(tree, RIGHT, p, q, count=2, chance=FrozenNoise) > 0
    assert len(distribution(partial(step, tree, RIGHT, p, q), FrozenNoise)) > 1
