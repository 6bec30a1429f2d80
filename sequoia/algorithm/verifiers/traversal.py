"""Traversal verification: tests whole paths, from the leaves to the root (arXiv 2505.12398). On a
chain it is block verification (arXiv 2403.10444).

The paper was published without code; this version, for siblings drawn without replacement, was
derived for this project. For each visited node it keeps the probability that the path down to that
node is accepted, and updates it whenever a child is rejected. Once all children of a node have been
rejected, the node is accepted with the probability that is left. If it is rejected too, its parent
continues with the residual distributions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import uniform_except
from sequoia.algorithm.verifiers.verifier import DistributionOf, Trial, Verdict, Verifier


class PathNode:
    """A node on the current path, with the residual target and draft distributions (vocab,) after
    the rejection of the children tried so far.

    path_chance: the probability that the path to this node is accepted, given the tokens on the
    path and the rejections so far.
    """

    def __init__(
        self,
        node: int,
        path_chance: Any,
        target: np.ndarray,
        children: Sequence[int],
        q: DistributionOf,
    ) -> None:
        self.node = node
        self.path_chance = path_chance
        self.target = target
        self.waiting = list(reversed(children))  # not visited yet; the next one is last
        self.tried: list[int] = []
        if children:
            draft = q(node)
            self.draft = draft.astype(target.dtype) / draft.sum(dtype=target.dtype)

    def chance_of(self, token: int) -> Any:
        """The probability that the path is accepted if it continues with `token`."""
        if self.tried and not self.draft.any():
            self.draft = uniform_except(self.draft, self.tried)
        weight = self.path_chance * self.target[token]
        return weight / self.draft[token] if weight < self.draft[token] else weight * 0 + 1

    def reject(self, token: int) -> Any:
        """Update both distributions and `path_chance` after the child with `token` was rejected.
        Returns the residual mass, the sum of max(path_chance * target - draft, 0) before the
        update."""
        rest = self.path_chance * self.target - self.draft
        np.maximum(rest, 0, out=rest)
        mass = rest.sum()
        if mass > 0:
            self.target = rest / mass
            self.path_chance = mass / (mass + (1 - self.path_chance))  # the divisor is never 0
        elif self.path_chance < 1:  # neither this path nor a longer one can be accepted any more
            self.path_chance = self.path_chance * 0  # keeps the dtype
        # Else path_chance is 1, and the mass is 0 only by rounding: target and path_chance stay.
        self.draft[token] = self.draft[token] * 0  # keeps the dtype
        left = self.draft.sum()
        if left > 0:
            self.draft /= left
        self.tried.append(token)
        return mass


def traverse(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chance: Chance
) -> Verdict:
    """Visit the nodes from the leftmost leaf towards the root and accept the path to the first node
    that is not rejected.

    The children of a node must have been drawn from q(node) without replacement. A trial tests a
    node once all its children have been rejected or skipped. The trial's p is the probability that
    the path to the node is accepted, and the trial's q is 1. If the node is rejected, the trial's
    mass is the residual mass at the parent (see `PathNode.reject`). The root is always accepted,
    without a trial.
    """
    trials = []
    path = [PathNode(0, 1, p(0), tree.children[0], q)]
    while True:
        place = path[-1]
        if place.waiting:
            path.append(_enter(place, place.waiting.pop(), tree, tokens, p, q))
            continue
        if len(path) == 1:
            break
        accepted, u = chance.accept(1, place.path_chance)
        token = tokens[place.node]
        if accepted:
            trials.append(Trial(place.node, token, place.path_chance, 1, u, True))
            break
        path.pop()
        mass = path[-1].reject(token)
        trials.append(Trial(place.node, token, place.path_chance, 1, u, False, mass))
    return Verdict(tuple(place.node for place in path), chance.pick(path[-1].target), tuple(trials))


def _enter(
    parent: PathNode,
    node: int,
    tree: Tree,
    tokens: Sequence[int],
    p: DistributionOf,
    q: DistributionOf,
) -> PathNode:
    """The child `node` of `parent`. If the path to it cannot be accepted, its own children are
    skipped."""
    path_chance = parent.chance_of(tokens[node])
    if path_chance == 0:
        return PathNode(node, path_chance, parent.target, (), q)
    return PathNode(node, path_chance, p(node), tree.children[node], q)


TRAVERSAL = Verifier(
    key="traversal",
    label="Traversal",
    about="drawn as in Sequoia, but whole paths are tested, from the leaves up; on a chain this is "
    "block verification.",
    colour=("#946200", "#f5c04f"),
    marker="bowtie",
    draw=lambda chance, q, counts: chance.without_replacement(q, counts),
    verify=traverse,
)
