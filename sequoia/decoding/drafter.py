"""Drafting: one step's tree is filled with tokens, one draft forward a level, and the draft's cache
follows what was accepted.

The tree may be given, or grow while it is drafted; how many children a node gets never depends on
the tokens drawn for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from typing import Protocol

import numpy as np
import torch

from sequoia.algorithm.distributions import checked, draft_warp, overflowed
from sequoia.algorithm.sampling import Chance, Drawn
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.errors import BadTree
from sequoia.models.per_tree import PerTree
from sequoia.models.tree_forward import Context
from sequoia.models.tree_mask import GrowingTreeLayout, TreeLayout
from sequoia.this_machine.step_timer import Clock

Distributions = (
    np.ndarray | torch.Tensor
)  # of one level (nodes, vocab), an array where the host has them
_ROOT = Tree.chain(1)


class GrowingTree(Protocol):
    """A tree that grows level by level, numbered breadth first."""

    @property
    def front(self) -> tuple[int, ...]:
        """Nodes whose law is wanted next, all of one level, increasing; none when the tree is
        complete. The root at first."""
        ...

    @property
    def tree(self) -> Tree:
        """What has grown so far."""
        ...

    def grow(self, distributions: torch.Tensor) -> tuple[int, ...]:
        """Children for each node of the front, given its law in (front, vocab); moves on
        to the next level."""
        ...


class Drafted:
    """A step's tree with its tokens. row: where the draft's cache has a node."""

    def __init__(self, root: int, tree: Tree = _ROOT) -> None:
        self.tree = tree
        self.tokens: list[int] = [root]
        self.row: dict[int, int] = {}
        self.has_read = False  # the draft has read the root
        self._levels: list[tuple[Sequence[int], Distributions, Drawn]] = []

    def grow(self, nodes: Sequence[int], distributions: torch.Tensor, drawn: Drawn) -> None:
        """Append the tokens of children of `nodes`, drawn from the rows of `distributions`
        (nodes, vocab)."""
        self._levels.append(
            (nodes, distributions.numpy() if distributions.is_cpu else distributions, drawn)
        )
        for tokens in drawn:
            self.tokens += tokens

    @cached_property
    def probs(self) -> list[float]:
        """What q gave each token but the root's; to be asked for once the tree is complete."""
        return [
            weight
            for _, distributions, drawn in self._levels
            for weight in _at(distributions, drawn)
        ]

    def refuse_nan(self) -> None:
        """Once the tree is complete: raises BadModel where a law that tokens were drawn from is
        NaN. All levels at once, as draft passes between them would empty the processor's cache; a
        draw from NaN is some token of the vocabulary."""
        if math.isnan(sum(self.probs)):
            raise overflowed("draft")

    def q(self, node: int) -> np.ndarray:
        """The draft's law after `node`, (vocab,)."""
        distributions, row = self._place[node]
        return (
            distributions[row]
            if isinstance(distributions, np.ndarray)
            else distributions[row].cpu().numpy()
        )

    @cached_property
    def _place(self) -> dict[int, tuple[Distributions, int]]:
        """Which row of which laws was drawn from after a node."""
        return {
            node: (distributions, row)
            for nodes, distributions, _ in self._levels
            for row, node in enumerate(nodes)
        }


class Drafter:
    """One run's draft model: what it has read, and what it has not read yet. most: nodes of a
    tree. warp: what makes laws of the draft's logits, which may have been divided by a
    temperature already."""

    def __init__(
        self,
        context: Context,
        params: SamplingParams,
        verifier: Verifier,
        chance: Chance,
        most: int,
    ) -> None:
        self.context = context
        self.laid_out = PerTree(partial(_DraftLayout, context), serves=Tree.is_cut_of)
        self.warp = draft_warp(
            replace(params, temperature=params.temperature / context.model.temperature)
        )
        self._draw = partial(verifier.draw, chance)
        self._most = most
        self.unread: tuple[int, ...] = ()  # the last is the root of the next tree

    def read(self, prompt: tuple[int, ...]) -> None:
        """Read the prompt but for its last token, which is the first root. A run without drafting
        has no slots to read into."""
        if self.context.capacity and len(prompt) > 1:
            self.context.extend(prompt[:-1])
        self.unread = prompt[-1:]

    def begun(self, tree: Tree = _ROOT) -> Drafted:
        """A step's tree with the token of its root alone. Raises BadTree where it is larger than
        promised."""
        check_promised_size(self._most, tree)
        return Drafted(self.unread[-1], tree)

    def fill(self, tree: Tree, clock: Clock) -> Drafted:
        """Tokens for a given tree. Only nodes with children go through the draft."""
        drafted = self.begun(tree)
        if len(tree) > 1:
            laid_out = self.laid_out(tree)
            drafted.row = laid_out.row(tree)
            for nodes, counts in laid_out.levels(tree):
                distributions = self._distributions(nodes, drafted, laid_out.rows, clock)
                drafted.grow(nodes, distributions, self._draw(distributions, counts))
        drafted.refuse_nan()
        return drafted

    def follow(self, growing: GrowingTree, clock: Clock) -> Drafted:
        """Tokens for a tree that grows along the draft's laws."""
        drafted = self.begun()
        rows = self._growing
        rows.clear()
        while nodes := growing.front:
            check_promised_size(self._most, growing.tree)
            if nodes[0]:  # the root is read with the prefix
                drafted.row.update({node: len(rows) + i for i, node in enumerate(nodes)})
                rows.add([drafted.row.get(growing.tree.parents[node]) for node in nodes])
            distributions = checked(self._distributions(nodes, drafted, rows, clock), "draft")
            drafted.grow(
                nodes, distributions, self._draw(distributions, growing.grow(distributions))
            )
        check_promised_size(self._most, growing.tree)
        drafted.tree = growing.tree
        return drafted

    @cached_property
    def _growing(self) -> GrowingTreeLayout:
        return GrowingTreeLayout(self.context, self._most)

    def keep(self, drafted: Drafted, verdict: Verdict) -> None:
        """Go down the accepted path; what the draft has not read of it, it reads
        with the next root."""
        if not drafted.has_read:
            self.unread = (*self.unread, verdict.bonus)
            return
        self.context.keep([drafted.row[node] for node in verdict.path[1:] if node in drafted.row])
        last = verdict.path[-1]
        self.unread = (
            (verdict.bonus,)
            if last == 0 or last in drafted.row
            else (drafted.tokens[last], verdict.bonus)
        )

    def _distributions(
        self,
        nodes: Sequence[int],
        drafted: Drafted,
        rows: TreeLayout | GrowingTreeLayout,
        clock: Clock,
    ) -> torch.Tensor:
        """(nodes, vocab) laws of the tokens after the nodes of one level."""
        with clock.phase("draft"):
            if not nodes[0]:
                logits = self.context.extend(self.unread)[None]
                drafted.has_read = True
            else:
                logits = self.context.forward([drafted.tokens[node] for node in nodes], rows)
        return self.warp(logits)


def _at(distributions: Distributions, drawn: Drawn) -> list[float]:
    """What `distributions` (nodes, vocab) give the tokens drawn at each node, one after the
    other."""
    if isinstance(distributions, np.ndarray):
        return [
            distributions.item(row, token) for row, tokens in enumerate(drawn) for token in tokens
        ]
    rows = [row for row, tokens in enumerate(drawn) for _ in tokens]
    return distributions[rows, [*chain.from_iterable(drawn)]].tolist()  # a device is asked once


def check_promised_size(most: int, tree: Tree) -> None:
    """Raises BadTree where a step's tree has more nodes than its shaper said; room is
    made for no more."""
    if len(tree) > most:
        raise BadTree(
            f"a step's tree has {len(tree)} nodes; its shaper had promised {most} at most"
        )


class _DraftLayout:
    """A tree, and any cut of it, as the draft reads it."""

    def __init__(self, context: Context, tree: Tree) -> None:
        # the root is read with the prefix
        nodes = [node for level in tree.inner[1:] for node in level]
        self.rows = TreeLayout(tree, nodes, context, below=1)
        self._row = {node: row for row, node in enumerate(nodes)}
        self._levels = [
            (level, [len(tree.children[node]) for node in level]) for level in tree.inner
        ]

    def levels(self, tree: Tree) -> list[tuple[tuple[int, ...], list[int]]]:
        """The inner nodes of each level of `tree`, and how many children they have."""
        return self._levels[: tree.levels - 1]

    def row(self, tree: Tree) -> dict[int, int]:
        """Which row a node of `tree` has; its last level has none."""
        if tree.levels > len(self._levels):
            return self._row
        last = tree.depths.index(tree.levels - 1)
        return {node: row for node, row in self._row.items() if node < last}
