"""The expected number of tokens that verification accepts from a drafted tree. The average over the
verifier's random draws is computed exactly, so two trees drafted at the same position can be
compared without the noise of those draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Chances, DistributionOf, Verifier, Verify


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
