"""TreeChoice: decides which tree each step drafts. This module has the interface, and the choice of
one fixed tree for all steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.decoding.drafter import DynamicTree


class TreeChoice(Protocol):
    """Chooses the tree of each step of one run. It may look at earlier steps and at the draft's
    distributions, but never at tokens drawn for the nodes it is deciding about: that would bias the
    output."""

    @property
    def most(self) -> int:
        """The maximum number of nodes of a step's tree, root included."""
        ...

    @property
    def widest(self) -> int:
        """The maximum number of children of a node. A run is refused if this exceeds the number of
        tokens in the vocabulary. 0 means that any vocabulary is large enough."""
        ...

    def next(self, levels: int) -> Tree | DynamicTree:
        """The next step's tree, of at most `levels` levels. A Tree is known before drafting. A
        DynamicTree grows while it is drafted."""
        ...

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        """Called after each step with its tree and verdict."""
        ...


# A tree, or a function that makes a new TreeChoice for each run. A TreeChoice may learn, so two
# runs that shared one could influence each other.
TreeSource = Tree | Callable[[], TreeChoice]


class FixedTree:
    """The same tree at every step, cut to fewer levels when only few tokens are left to decode."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.most = len(tree)
        self.widest = max(map(len, tree.children))

    def next(self, levels: int) -> Tree:
        return self.tree.limit(levels)

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        pass
