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
    """Replaces a verifier's source of randomness. It rejects every token that some u would reject.
    So a verifier that draws u for each trial tries every node that it could accept, if it starts at
    the leaves or if the tree is a single group of siblings."""

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        """Whether u * d < r holds for every u in [0, 1). d, r: as in Chance.accept."""
        return bool(r > 0 and r >= d), None

    def pick(self, weights: Any) -> int:
        return int(np.argmax(weights))


# Typed Any, because it lacks the methods of a Chance that draw children. Verification never calls
# them.
REJECTING: Any = RejectIfPossible()


def expected_accepted(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, verifier: Verifier
) -> Any:
    """The expected number of accepted nodes of `tree`, without its root, given the drafted
    `tokens`. p, q: the distributions after each node that has children; a verifier that starts at
    the leaves needs p after every node."""
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
    """A verifier that starts at the leaves tries the nodes in a fixed order until one is accepted.
    The p of a trial is the probability that its node is accepted, if all nodes tried before it were
    rejected. The number of nodes then accepted is the node's depth."""
    reached: Any = 1
    total: Any = 0
    for trial in verify(tree, tokens, p, q, REJECTING).trials:
        total += reached * trial.p * tree.depths[trial.node]
        reached *= 1 - trial.p
    return total
