"""TreeChoice: decides which tree each step drafts. A Tree is the choice of the same tree at every
step. Others: StoppingChain here, replanned_tree.py, dynamic_tree.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch

from sequoia.algorithm.sampling import Drawn
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.errors import BadTree
from sequoia.validate_input import number, whole


class DynamicTree(Protocol):
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
    output. It may have an attribute `draft`, which then drafts instead of the pair's (see
    LookedUpTrees in models/ngram.py)."""

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


# For several runs: a tree, or a function that makes a new TreeChoice for each run. A TreeChoice may
# learn, so two runs that shared one could influence each other.
TreeSource = Tree | Callable[[], TreeChoice]


class StoppingChain:
    """A TreeChoice that drafts a chain of at most `max_nodes` nodes, its root included, at every
    step. A chain ends after its first token whose draft probability is below `min_prob`. With
    `min_prob` 0, every chain has the maximum length, except near the end of a run, where fewer
    tokens may remain.

    Raises BadTree if `max_nodes` is not a whole number from 1 to MAX_NODES, or `min_prob` is not a
    number from 0 to 1.
    """

    # 0 means that any vocabulary is large enough: a node of a chain has at most one child
    widest = 0

    def __init__(self, max_nodes: int, min_prob: float) -> None:
        self.most = whole(max_nodes, "max_nodes", 1, MAX_NODES, BadTree)
        self.min_prob = number(min_prob, "min_prob", 0, 1, BadTree)

    def next(self, levels: int) -> ChainWhileSure:
        return ChainWhileSure(min(self.most, levels), self.min_prob)

    def learn(self, tree: Tree, verdict: Verdict) -> None:
        pass


class ChainWhileSure:
    """One step's chain, of at most `max_nodes` nodes. It ends after its first token with a draft
    probability below `min_prob`, if there is one."""

    def __init__(self, max_nodes: int, min_prob: float) -> None:
        self._max_nodes = max_nodes
        self._min_prob = min_prob
        self.tree = Tree.chain(1)
        self.front: tuple[int, ...] = (0,) if max_nodes > 1 else ()

    def grow(self, _distributions: torch.Tensor) -> tuple[int, ...]:
        last = len(self.tree)
        self.tree = Tree.chain(last + 1)
        self.front = (last,) if last + 1 < self._max_nodes else ()
        return (1,)

    def see(self, distributions: torch.Tensor, drawn: Drawn) -> None:
        """Decides whether another token is drafted after the one that was `drawn`."""
        ((token,),) = drawn
        if float(distributions[0, token]) < self._min_prob:
            self.front = ()
