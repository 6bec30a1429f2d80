"""Drafts a chain that ends after the first token that the draft model is unsure of. `transformers`
does this with its assistant confidence threshold.

The unsure token stays in the chain and is verified. Dropping it would bias the output: verification
would see only tokens with a high draft probability, but it assumes that it sees every drawn token.
"""

from __future__ import annotations

import torch

from sequoia.algorithm.sampling import Drawn
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.errors import BadTree
from sequoia.validate_input import number, whole


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
