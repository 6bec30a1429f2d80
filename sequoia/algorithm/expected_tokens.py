"""How many tokens a step is expected to emit: with a tree, before it is drafted (paper: section
3.1), and with a drafted tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Chances, DistributionOf, Verifier, Verify


def expected_tokens(tree: Tree, acceptance: Acceptance) -> float:
    """F(T): the expected number of tokens that one step emits, including the one that the target
    adds. It is the sum over all nodes of the probability that the node is accepted; the root counts
    as 1."""
    return math.fsum(scores(tree, acceptance))


def scores(tree: Tree, acceptance: Acceptance) -> list[float]:
    """f(v) of each node, the probability that it is accepted: the product of the rates along the
    path from the root. The root's score is 1."""
    rates = acceptance.rates
    result = [1.0]
    for parent, rank in zip(tree.parents[1:], tree.ranks[1:], strict=True):
        result.append(result[parent] * rates[rank] if rank < len(rates) else 0.0)
    return result


def fitted(acceptance: Acceptance, tree: Tree, tokens: float) -> Acceptance:
    """`acceptance`, smoothed and adjusted so that `tree` is expected to yield `tokens` per step.

    Rates counted node by node do not show that acceptance comes in streaks: in easy text the draft
    may be right for a dozen tokens in a row, in hard text for none. So a deep tree usually yields
    fewer tokens per step than the rates predict, in greedy decoding by a fifth or more.

    If the rates predict more tokens, they are scaled down. If they predict fewer, they are mixed
    with those of a perfect draft, whose first child is always accepted. With a tree of one node,
    the vector is only smoothed. If `tokens` is too small to be reached, all rates become
    0. If it is too large, they become those of the perfect draft."""
    rates = np.array(acceptance.smoothed().rates)
    perfect = np.eye(1, len(rates))[0]

    def adjusted(by: float) -> Acceptance:
        """The vector for `by` from 0 to 2. Its rates are 0 at 0, `rates` at 1 and `perfect` at
        2."""
        mixed = by * rates if by < 1 else (2 - by) * rates + (by - 1) * perfect
        return Acceptance(tuple(mixed.clip(0, 1).tolist()))

    if len(tree) == 1:
        return adjusted(1.0)
    low = 0.0
    high = 2.0
    for _ in range(60):
        middle = (low + high) / 2
        too_few = expected_tokens(tree, adjusted(middle)) < tokens
        low, high = (middle, high) if too_few else (low, middle)
    return adjusted(low)


# -- a drafted tree: the average over the verifier's random draws is computed exactly, so two trees
# drafted at the same position can be compared without the noise of those draws


class RejectIfPossible:
    """Replaces the randomness of a verifier that draws a u for each trial (see Chance.accept). A
    token is accepted only if no u would reject it. So the verifier tries every node that it could
    accept, if it starts at the leaves or if the tree is a single group of siblings."""

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        """Whether u * d < r holds for every u in [0, 1). d, r: as in Chance.accept."""
        return bool(r > 0 and r >= d), None

    def pick(self, weights: Any) -> int:
        return int(np.argmax(weights))


# Typed Any, because RejectIfPossible lacks the methods of Chance that draw children. Verification
# never calls those methods.
REJECTING: Any = RejectIfPossible()


def expected_accepted(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, verifier: Verifier
) -> Any:
    """The expected number of accepted nodes of `tree`, without its root, given the drafted
    `tokens`. p, q: the target's and the draft's distribution after each node that has children. A
    verifier that starts at the leaves also needs p after the leaves."""
    if verifier.chances is None:
        return _from_leaves(tree, tokens, p, q, verifier.verify)
    return _from_root(tree, tokens, p, q, verifier.chances)


def _from_root(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chances: Chances
) -> Any:
    reached: list[Any] = [1] + [0] * (len(tree) - 1)
    for node, children in enumerate(tree.children):
        if children and reached[node] > 0:
            drafted = [tokens[child] for child in children]
            for child, chance in zip(children, chances(p(node), q(node), drafted), strict=True):
                reached[child] = reached[node] * chance
    return sum(reached[1:])


def _from_leaves(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, verify: Verify
) -> Any:
    """The expected number for a verifier that starts at the leaves. Such a verifier tries the nodes
    in a fixed order until one is accepted. `trial.p` is the probability that the trial's node is
    accepted, if all nodes tried earlier were rejected. If the node is accepted, so is the whole
    path to it, and the number of accepted nodes is its depth."""
    reached: Any = 1
    total: Any = 0
    for trial in verify(tree, tokens, p, q, REJECTING).trials:
        total += reached * trial.p * tree.depths[trial.node]
        reached *= 1 - trial.p
    return total
