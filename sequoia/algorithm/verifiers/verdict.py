"""The result of verifying one step, in the same form for every rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.tree import Tree


@dataclass(frozen=True)
class Trial:
    """The test of one drafted node.

    p and q are the probabilities of its token in R and D, the target's and the draft's distribution
    after the earlier rejections. The token is accepted if u * q < p. mass: after a rejection, the
    sum of max(R - D, 0); None after an acceptance. Two rules differ. In top-k match, p and q are
    the probabilities before any rejection, and u and mass are None. For Traversal see `traverse`.
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
        """(child, whether it was accepted) for the children of each node on the path, up to the
        accepted child or, if none was accepted, for all of them. These pairs do not depend on the
        order of the trials, which differs between rules."""
        for node, taken in zip(self.path, (*self.path[1:], None), strict=True):
            for child in tree.children[node]:
                yield child, child == taken
                if child == taken:
                    break
