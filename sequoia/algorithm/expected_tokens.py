"""How many tokens a step is expected to emit with a tree (paper: section 3.1)."""

from __future__ import annotations

import math

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.tree import Tree


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
