"""The result of verifying one step. Independent of the rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.tree import Tree


@dataclass(frozen=True)
class Trial:
    """The test of one drafted child.

    p and q are the probabilities of its token at that moment: p in the residual R, q in D, which is
    the draft distribution after earlier rejections. The token is accepted if u * q < p. `mass` is
    the sum of max(R - D, 0) after a rejection: the part of the target distribution that exceeds the
    draft's. None after an acceptance.
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
        """The children along the path, each with whether it was accepted: at every node of the path
        those up to the accepted child, or all where none was. This is what rates by rank count, in
        whatever order a rule makes its trials."""
        for node, taken in zip(self.path, (*self.path[1:], None), strict=True):
            for child in tree.children[node]:
                yield child, child == taken
                if child == taken:
                    break
