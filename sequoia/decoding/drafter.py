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
from sequoia.algorithm.sampling_params import Policy
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Verdict
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.errors import BadTree
from sequoia.models.per_tree import Latest
from sequoia.models.tree_forward import Context
from sequoia.models.tree_mask import GrowingRows, Rows
from sequoia.this_machine.step_timer import Clock

Laws = np.ndarray | torch.Tensor  # of one level (nodes, vocab), an array where the host has them
_ROOT = Tree.chain(1)


class Sprout(Protocol):
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

    def grow(self, laws: torch.Tensor) -> tuple[int, ...]:
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
        self._levels: list[tuple[Sequence[int], Laws, Drawn]] = []

    def grow(self, nodes: Sequence[int], laws: torch.Tensor, drawn: Drawn) -> None:
        """Append the tokens of children of `nodes`, drawn from the rows of `laws`
        (nodes, vocab)."""
        self._levels.append((nodes, laws.numpy() if laws.is_cpu else laws, drawn))
        for tokens in drawn:
            self.tokens += tokens

    @cached_property
    def probs(self) -> list[float]:
        """What q gave each token but the root's; to be asked for once the tree is complete."""
        return [weight for _, laws, drawn in self._levels for weight in _at(laws, drawn)]

    def refuse_nan(self) -> None:
        """Once the tree is complete: raises BadModel where a law that tokens were drawn from is
        NaN. All levels at once, as draft passes between them would empty the processor's cache; a
        draw from NaN is some token of the vocabulary."""
        if math.isnan(sum(self.probs)):
            raise overflowed("draft")

    def q(self, node: int) -> np.ndarray:
        """The draft's law after `node`, (vocab,)."""
        laws, row = self._place[node]
        return laws[row] if isinstance(laws, np.ndarray) else laws[row].cpu().numpy()

    @cached_property
    def _place(self) -> dict[int, tuple[Laws, int]]:
        """Which row of which laws was drawn from after a node."""
        return {
            node: (laws, row) for nodes, laws, _ in self._levels for row, node in enumerate(nodes)
        }


class Drafter:
    """One run's draft model: what it has read, and what it has not read yet. most: nodes of a
    tree. warp: what makes laws of the draft's logits, which may have been divided by a
    temperature already."""

    def __init__(
        self, context: Context, policy: Policy, verifier: Verifier, chance: Chance, most: int
    ) -> None:
        self.context = context
        self.laid_out = Latest(partial(_LaidOut, context), serves=Tree.is_cut_of)
        self.warp = draft_warp(
            replace(policy, temperature=policy.temperature / context.model.temperature)
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
        """A step's tree with the token of its root alone. Raises BadTree as `hold_to` does."""
        hold_to(self._most, tree)
        return Drafted(self.unread[-1], tree)

    def fill(self, tree: Tree, clock: Clock) -> Drafted:
        """Tokens for a given tree. Only nodes with children go through the draft."""
        drafted = self.begun(tree)
        if len(tree) > 1:
            laid_out = self.laid_out(tree)
            drafted.row = laid_out.row(tree)
            for nodes, counts in laid_out.levels(tree):
                laws = self._laws(nodes, drafted, laid_out.rows, clock)
                drafted.grow(nodes, laws, self._draw(laws, counts))
        drafted.refuse_nan()
        return drafted

    def follow(self, sprout: Sprout, clock: Clock) -> Drafted:
        """Tokens for a tree that grows along the draft's laws."""
        drafted = self.begun()
        rows = self._growing
        rows.clear()
        while nodes := sprout.front:
            hold_to(self._most, sprout.tree)
            if nodes[0]:  # the root is read with the prefix
                drafted.row.update({node: len(rows) + i for i, node in enumerate(nodes)})
                rows.add([drafted.row.get(sprout.tree.parents[node]) for node in nodes])
            laws = checked(self._laws(nodes, drafted, rows, clock), "draft")
            drafted.grow(nodes, laws, self._draw(laws, sprout.grow(laws)))
        hold_to(self._most, sprout.tree)
        drafted.tree = sprout.tree
        return drafted

    @cached_property
    def _growing(self) -> GrowingRows:
        return GrowingRows(self.context, self._most)

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

    def _laws(
        self, nodes: Sequence[int], drafted: Drafted, rows: Rows | GrowingRows, clock: Clock
    ) -> torch.Tensor:
        """(nodes, vocab) laws of the tokens after the nodes of one level."""
        with clock.phase("draft"):
            if not nodes[0]:
                logits = self.context.extend(self.unread)[None]
                drafted.has_read = True
            else:
                logits = self.context.forward([drafted.tokens[node] for node in nodes], rows)
        return self.warp(logits)


def _at(laws: Laws, drawn: Drawn) -> list[float]:
    """What `laws` (nodes, vocab) give the tokens drawn at each node, one after the other."""
    if isinstance(laws, np.ndarray):
        return [laws.item(row, token) for row, tokens in enumerate(drawn) for token in tokens]
    rows = [row for row, tokens in enumerate(drawn) for _ in tokens]
    return laws[rows, [*chain.from_iterable(drawn)]].tolist()  # a device is asked once


def hold_to(most: int, tree: Tree) -> None:
    """Raises BadTree where a step's tree has more nodes than its shaper said; room is
    made for no more."""
    if len(tree) > most:
        raise BadTree(
            f"a step's tree has {len(tree)} nodes; its shaper had promised {most} at most"
        )


class _LaidOut:
    """A tree, and any cut of it, as the draft reads it."""

    def __init__(self, context: Context, tree: Tree) -> None:
        # the root is read with the prefix
        nodes = [node for level in tree.inner[1:] for node in level]
        self.rows = Rows(tree, nodes, context, below=1)
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
