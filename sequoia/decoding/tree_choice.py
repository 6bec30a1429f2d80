"""Where each step's tree comes from. A fixed one here; replan.py plans anew, dynamic.py grows
one with the draft."""

from __future__ import annotations

from typing import Protocol

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verify import Verdict
from sequoia.decoding.drafter import GrowingTree


class TreeChoice(Protocol):
    """Gives every step of one run its tree. What it may know: the steps before, and the
    draft's laws; never the tokens that are drawn for the very nodes it decides on, for that
    would bias the output."""

    @property
    def most(self) -> int:
        """Nodes that a step's tree may have, the root included."""
        ...

    @property
    def widest(self) -> int:
        """Children that a node may have at most; 0 where the draft's law decides, which has no more
        tokens than there are."""
        ...

    def next(self, levels: int) -> Tree | GrowingTree:
        """The next step's tree, of at most `levels` levels: whole, or one that grows
        while it is drafted."""
        ...

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        """Hear what became of the last tree."""
        ...


class FixedTree:
    """The same tree at every step."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.most = len(tree)
        self.widest = max(map(len, tree.children))

    def next(self, levels: int) -> Tree:
        return self.tree.limit(levels)

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        pass
