"""The mean number of tokens that verification accepts of a drafted tree, over the verifier's own
randomness: exact, and without the noise of its draws. Two trees that were drafted at the same
position can be compared by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Chances, DistributionOf, Verifier, Verify


class RejectIfPossible:
    """Replaces the random numbers of a verifier. It rejects wherever that is possible, so that
    every node that could be accepted gets a trial."""

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        """Whether u * d < r holds for every u in [0, 1). d: the token's residual draft probability,
        r: its residual target probability."""
        return bool(r > 0 and r >= d), None

    def pick(self, weights: Any) -> int:
        return int(np.argmax(weights))


# Any: verifiers never call the methods of a Chance that draw children
REJECTING: Any = RejectIfPossible()


def expected_accepted(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, verifier: Verifier
) -> Any:
    """The conditional expectation of the accepted nodes of `tree`, its root not counted, given its
    `tokens`. p, q: distributions after each node that has children; for a verifier that starts at
    the leaves, p of every node. A step emits one token more, unless the run ends in it."""
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
    """The order of the trials is fixed: a node is tried if all before it were rejected. The p of a
    trial is the probability that the walk then ends there."""
    reached: Any = 1
    total: Any = 0
    for trial in verify(tree, tokens, p, q, REJECTING).trials:
        total += reached * trial.p * tree.depths[trial.node]
        reached *= 1 - trial.p
    return total
