"""Drafts whose length or shape depends on the tokens drawn so far. Exact enumeration in fractions
shows that the output distribution is the target's, with the verifiers Sequoia and Traversal. It
also shows a bias if a chain drops the token of low draft probability that ended it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from doors import (
    GrowingTree,
    Tree,
    calibrated_tree,
    chain_while_sure,
    part_that_a_lookup_fills,
)
from exact import (
    EXACT,
    Distribution,
    Model,
    Text,
    completed,
    distance,
    distribution,
    grown,
    grown_step,
    table,
    true_distribution,
    verified,
)

VOCAB = 3
VERIFIERS = ("sequoia", "traversal")


def chain() -> GrowingTree:
    return chain_while_sure(4, 0.4)


def dynamic() -> GrowingTree:
    return calibrated_tree(5, 3)


def found_part() -> GrowingTree:
    return part_that_a_lookup_fills(Tree((-1, 0, 0, 1, 1, 2)))


Shape = Callable[[], GrowingTree]
SHAPES: dict[str, Shape] = {
    "stopping chain": chain,
    "dynamic tree": dynamic,
    "what a lookup found": found_part,
}


def models(seed: int) -> tuple[Model, Model]:
    return table((seed, "p"), VOCAB), table((seed, "q"), VOCAB)


def off_by(found: Distribution, p: Model, length: int) -> Any:
    """The total variation distance between the output's and the target's distribution."""
    return distance(completed(found, p, length), true_distribution(p, length))


def one_step(
    shape: Callable[[], GrowingTree],
    verifier: str,
    p: Model,
    q: Model,
    seen: set[Tree],
    chance: Any,
) -> Text:
    mine = shape()
    text = grown_step(mine, EXACT[verifier], p, q, chance)
    seen.add(mine.tree)
    return text


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_a_shape_that_depends_on_earlier_draws_causes_no_bias(kind: str, verifier: str) -> None:
    varied = 0
    for seed in range(24):
        p, q = models(seed)
        seen = set[Tree]()
        found = distribution(partial(one_step, SHAPES[kind], verifier, p, q, seen))
        assert off_by(found, p, 4) == 0
        varied += len(seen) > 1
    assert varied >= 4  # for at least this many seeds, the shape depends on what was drawn


def without_the_unsure_token(surest: float, verifier: str, p: Model, q: Model, chance: Any) -> Text:
    """The mistake to find: the unsure token that ended the chain is dropped before verification."""
    shape = chain_while_sure(4, surest)
    tokens, contexts = grown(shape, EXACT[verifier], q, (), chance)
    nodes = len(tokens)
    if nodes > 1 and q(contexts[-2])[tokens[-1]] < surest:
        nodes -= 1
    chain_kept = Tree.chain(nodes)
    return verified(chain_kept, tokens, contexts[:nodes], EXACT[verifier], p, q, chance)


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_dropping_the_unsure_token_is_found(verifier: str) -> None:
    errors = []
    for seed in range(12):
        p, q = models(seed)
        found = distribution(partial(without_the_unsure_token, 0.4, verifier, p, q))
        errors.append(off_by(found, p, 4))
    assert all(isinstance(error, Fraction) for error in errors)
    assert sum(error > Fraction(1, 100) for error in errors) >= 10
