"""How many tokens a step is expected to emit with a tree (paper: section 3.1)."""

from __future__ import annotations

import math

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
