"""The expected number of steps for a text equals the mean number of steps over all outcomes of
drafting and verification that emit this text."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from exact import EXACT, Enumerator, distribution, drafted, table

from sequoia.algorithm.expected_steps import child_chances, match_chances, step_starts
from sequoia.algorithm.tree import Tree

VOCAB = 3
RULES = ("sequoia", "specinfer", "topk")
TREES = (
    Tree.chain(1),
    Tree.chain(3),
    Tree((-1, 0, 0)),
    Tree((-1, 0, 0, 1)),
    Tree((-1, 0, 0, 2, 2)),
)
Text = tuple[int, ...]


@cache
def blocks(name: str, tree: Tree, p: Any, q: Any, before: Text) -> dict[Text, Any]:
    """Each text that one step after `before` can emit, with its probability."""
    verifier = EXACT[name]

    def emitted(chance: Enumerator) -> Text:
        tokens, contexts = drafted(tree, verifier, q, before, chance)
        verdict = verifier.verify(
            tree, tokens, lambda node: p(contexts[node]), lambda node: q(contexts[node]), chance
        )
        return (*(tokens[node] for node in verdict.path[1:]), verdict.bonus)

    return distribution(emitted)


def chances_at(name: str, p: Any, q: Any, token: int) -> list[Any]:
    """For each of two siblings, the probability that it is accepted, given that the text continues
    with `token`: the mean over all draws."""
    verifier = EXACT[name]
    if verifier.reject is None:
        (drawn,) = verifier.draw(Enumerator(), q[None], [2])
        return match_chances(token, drawn)
    outcomes = distribution(
        lambda chance: tuple(child_chances(p, q, token, 2, verifier.reject, chance))
    )
    return [sum(found[k] * weight for found, weight in outcomes.items()) for k in range(2)]


def starts_by_enumeration(name: str, tree: Tree, p: Any, q: Any, text: Text) -> list[Any]:
    """For each token of `text`, the probability that a step starts there, from all outcomes of all
    steps. Given that decoding emits `text`, a step emits a block of it with probability
    P(block) / P_target(block)."""
    at: list[Any] = [Fraction(1)] + [Fraction(0)] * (len(text) - 1)
    for start in range(len(text)):
        for block, weight in blocks(name, tree, p, q, text[:start]).items():
            end = start + len(block)
            if end >= len(text) or text[start:end] != block:
                continue
            own = Fraction(1)
            for k in range(start, end):
                own *= p(text[:k])[text[k]]
            at[end] += at[start] * weight / own
    return at


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("tree", TREES)
def test_step_starts_agree_with_enumeration(name: str, tree: Tree) -> None:
    for seed in range(2):
        p, q = table((seed, "p"), VOCAB), table((seed, "q"), VOCAB)
        for text in product(range(VOCAB), repeat=3):
            if not all(p(text[:k])[token] for k, token in enumerate(text)):
                continue
            chances = [
                chances_at(name, p(text[:k]), q(text[:k]), token) for k, token in enumerate(text)
            ]
            found = step_starts(tree, chances)
            assert found == starts_by_enumeration(name, tree, p, q, text)


def test_plain_decoding_starts_a_step_at_every_token() -> None:
    assert step_starts(Tree.chain(1), [[0.5]] * 6) == [1] * 6


def test_a_draft_like_the_target_is_always_accepted() -> None:
    p = table("p", 5)(())
    token = next(token for token, share in enumerate(p) if share)
    reject = EXACT["sequoia"].reject
    chances = child_chances(p, p, token, 1, reject, Enumerator())
    assert chances == [1]
    assert step_starts(Tree.chain(4), [chances] * 9) == [1, 0, 0, 0, 1, 0, 0, 0, 1]


def test_a_token_with_p_rounded_to_0_counts_as_accepted_only_if_its_q_is_positive() -> None:
    """A text decoded in half precision can contain a token that has p = 0 when recomputed."""
    p, q = np.array([1.0, 0.0, 0.0]), np.array([0.5, 0.5, 0.0])
    reject = EXACT["sequoia"].reject
    assert child_chances(p, q, 2, 2, reject, Enumerator()) == [0, 0]
    assert child_chances(p, q, 1, 1, reject, Enumerator()) == [1]
