"""The mean number of tokens that verification accepts of a drafted tree, over the verifier's own
randomness: exact, and without the noise of its draws. Two trees that were drafted at the same
position can be compared by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Chances, DistributionOf


def expected_accepted(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chances: Chances
) -> Any:
    """The conditional expectation of the accepted nodes of `tree`, its root not counted, given its
    `tokens`. p, q: distributions after each node that has children. chances: that of the verifier.
    A step emits one token more, unless the run ends in it."""
    reached: list[Any] = [1] + [0] * (len(tree) - 1)
    for node, children in enumerate(tree.children):
        if children and reached[node] > 0:
            drafted = [tokens[child] for child in children]
            for child, chance in zip(children, chances(p(node), q(node), drafted), strict=True):
                reached[child] = reached[node] * chance
    return sum(reached[1:])
