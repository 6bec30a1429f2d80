"""TreeChoice: decides which tree each step drafts. A Tree is the choice of the same tree at every
step. Another: dynamic_tree.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch

from sequoia.algorithm.sampling import Drawn
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Verdict


class GrowingTree(Protocol):
    """A tree that grows level by level while it is drafted, numbered breadth first."""

    @property
    def front(self) -> tuple[int, ...]:
        """The nodes whose draft distributions are needed next, in increasing order. At first the
        root, then nodes of the deepest level; empty when the tree is complete."""
        ...

    @property
    def tree(self) -> Tree:
        """The tree so far."""
        ...

    def grow(self, distributions: torch.Tensor, /) -> tuple[int, ...]:
        """Chooses the number of children of each node of `front` from its row of `distributions`
        (front, vocab), and returns these numbers. Adds the children to the tree and moves `front`
        to their level."""
        ...

    def see(self, distributions: torch.Tensor, drawn: Drawn, /) -> None:
        """Receives the tokens `drawn` for the children that `grow` has just added, and the
        `distributions` passed to `grow`. The tokens may influence later levels, but all of them
        stay in the tree."""
        ...


class TreeChoice(Protocol):
    """Chooses the tree of each step of one run. It may look at earlier steps and at the draft's
    distributions, but never at tokens drawn for the nodes it is deciding about: that would bias the
    output."""

    @property
    def most(self) -> int:
        """The maximum number of nodes of a step's tree, root included."""
        ...

    def next(self, levels: int) -> Tree | GrowingTree:
        """The next step's tree, of at most `levels` levels. A Tree is known before drafting. A
        GrowingTree grows while it is drafted."""
        ...

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        """Called after each step with its tree and verdict."""
        ...


# For several runs: a tree, or a function that makes a new TreeChoice for each run. A TreeChoice may
# learn, so two runs that shared one could influence each other.
TreeSource = Tree | Callable[[], TreeChoice]
