"""The result of verifying one step, in the same form for every rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.tree import Tree


@dataclass(frozen=True)
class Trial:
    """The test of one drafted node.

    R and D are what the rejections of earlier siblings have left of the target's and the draft's
    distribution (see walk.py). p is the probability of the node's token in R, q that in D. The
    token is accepted if u * q < p. mass: after a rejection, the sum of max(R - D, 0); None after an
    acceptance.

    Two rules differ. In top-k match, R and D are the original distributions, a node is accepted if
    the target drew its token, and u and mass are None. For Traversal see `traverse`.
    """

    node: int
    token: int
    p: Any
    q: Any
    u: float | None
    accepted: bool
    mass: Any = None


@dataclass(frozen=True)
class Verdict:
    """The result of one step: the accepted nodes from the root down, the one token that the target
    adds, and all trials in order."""

    path: tuple[int, ...]
    bonus: int
    trials: tuple[Trial, ...]

    def decided(self, tree: Tree) -> Iterator[tuple[int, bool]]:
        """For each node on the path, its children up to the accepted one, or all of them if none
        was accepted. Each is given as (child, whether it was accepted). The pairs do not depend on
        the order of the trials, which differs between rules."""
        for node, taken in zip(self.path, (*self.path[1:], None), strict=True):
            for child in tree.children[node]:
                yield child, child == taken
                if child == taken:
                    break
