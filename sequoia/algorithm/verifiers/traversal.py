"""Traversal verification: from the leaves to the root, so that a whole path is judged at once
(arXiv 2505.12398). On a chain it is block verification (arXiv 2403.10444).

The form for siblings drawn without replacement is our own: the paper states no code. Each node that
is visited has a probability with which the path down to it stands. A node whose children have all
been rejected is taken with that probability; otherwise it is rejected too, and its parent goes on
with what is left of the two distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Trial, Verdict
from sequoia.algorithm.verifiers.verifier import DistributionOf, Verifier
from sequoia.algorithm.verifiers.walk import uniform_except


class Place:
    """A node on the path that is being visited, with what is left there of the target and draft
    distributions (vocab,) after the children rejected so far.

    stands: the probability that the path to this node stands, given all draws so far.
    """

    def __init__(
        self, node: int, stands: Any, target: np.ndarray, children: Sequence[int], q: DistributionOf
    ) -> None:
        self.node = node
        self.stands = stands
        self.target = target
        self.waiting = list(reversed(children))  # children not visited yet, the next one last
        self.tried: list[int] = []
        if children:
            draft = q(node)
            self.draft = draft.astype(target.dtype) / draft.sum(dtype=target.dtype)

    def chance_of(self, token: int) -> Any:
        """The probability that the path stands if it goes on with `token`."""
        if self.tried and not self.draft.any():
            self.draft = uniform_except(self.draft, self.tried)
        weight = self.stands * self.target[token]
        return weight / self.draft[token] if weight < self.draft[token] else weight * 0 + 1

    def reject(self, token: int) -> Any:
        """Take the child with `token` out of both distributions. Returns the residual mass, the sum
        of max(stands * p - q, 0)."""
        rest = self.stands * self.target - self.draft
        np.maximum(rest, 0, out=rest)
        mass = rest.sum()
        if mass > 0:
            self.target = rest / mass
            self.stands = mass / (mass + (1 - self.stands))  # never 0 by rounding
        elif self.stands < 1:  # a sum of 0 where the path stands for certain is due to rounding
            self.stands = self.stands * 0  # keeps the dtype
        self.draft[token] = self.draft[token] * 0  # keeps the dtype
        left = self.draft.sum()
        if left > 0:
            self.draft /= left
        self.tried.append(token)
        return mass


def traverse(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chance: Chance
) -> Verdict:
    """Visit the nodes from the leftmost leaf towards the root and take the first whose path stands.

    The children of a node must have been drawn from q(node) without replacement. A trial is a node
    whose children have all been rejected: its p is the probability with which it is taken, its q is
    1. The root is always taken, without a trial.
    """
    trials = []
    path = [Place(0, 1, p(0), tree.children[0], q)]
    while True:
        place = path[-1]
        if place.waiting:
            path.append(_enter(place, place.waiting.pop(), tree, tokens, p, q))
            continue
        if len(path) == 1:
            break
        taken, u = chance.accept(1, place.stands)
        token = tokens[place.node]
        if taken:
            trials.append(Trial(place.node, token, place.stands, 1, u, True))
            break
        path.pop()
        mass = path[-1].reject(token)
        trials.append(Trial(place.node, token, place.stands, 1, u, False, mass))
    return Verdict(tuple(place.node for place in path), chance.pick(path[-1].target), tuple(trials))


def _enter(
    parent: Place,
    node: int,
    tree: Tree,
    tokens: Sequence[int],
    p: DistributionOf,
    q: DistributionOf,
) -> Place:
    """The child `node`. Where its path cannot stand, its own children are passed over."""
    stands = parent.chance_of(tokens[node])
    if stands == 0:
        return Place(node, stands, parent.target, (), q)
    return Place(node, stands, p(node), tree.children[node], q)


TRAVERSAL = Verifier(
    key="traversal",
    label="Traversal",
    drawn="without replacement, from the leaves",
    draw=lambda chance, q, counts: chance.without_replacement(q, counts),
    verify=traverse,
    chain_label="Block verification",
)
