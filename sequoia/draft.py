"""Drafting: one step's tree is filled with tokens, one draft forward a level, and the draft's cache follows what was accepted.

The tree may be given, or grow while it is drafted; how many children a node gets never depends on the tokens drawn for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import Protocol

import numpy as np
import torch

from .chance import Chance, Drawn
from .clock import Clock
from .errors import BadTree
from .latest import Latest
from .models import Context
from .policy import Policy
from .rows import GrowingRows, Rows
from .tree import Tree
from .verify import Verdict, Verifier
from .warp import checked, draft_laws, overflowed


class Sprout(Protocol):
    """A tree that grows level by level, numbered breadth first."""

    @property
    def front(self) -> tuple[int, ...]:
        """Nodes whose law is wanted next, all of one level, increasing; none when the tree is complete. The root at first."""
        ...

    @property
    def tree(self) -> Tree:
        """What has grown so far."""
        ...

    def grow(self, laws: torch.Tensor) -> tuple[int, ...]:
        """Children for each node of the front, given its law in (front, vocab); moves on to the next level."""
        ...


class Drafted:
    """A step's tree with its tokens. probs: what q gave each token, None for the root. row: where the draft's cache has it."""

    def __init__(self, root: int) -> None:
        self.tree = Tree.chain(1)
        self.tokens: list[int] = [root]
        self.probs: list[float | None] = [None]
        self.row: dict[int, int] = {}
        self.has_read = False  # the draft has read the root
        self._laws: dict[int, tuple[torch.Tensor, int]] = {}

    def grow(self, nodes: Sequence[int], laws: torch.Tensor, drawn: Sequence[Sequence[int]], probs: Sequence[Sequence[float]]
             ) -> None:
        """Append children to `nodes`, whose laws are the rows of `laws` (nodes, vocab): tokens, and what q gave each."""
        for row, node in enumerate(nodes):
            self._laws[node] = laws, row
            self.tokens += drawn[row]
            self.probs += probs[row]

    def q(self, node: int) -> np.ndarray:
        """The draft's law after `node`, (vocab,)."""
        laws, row = self._laws[node]
        return laws.numpy()[row] if laws.device.type == "cpu" else laws[row].cpu().numpy()


class Drafter:
    """One run's draft model: what it has read, and what it has not read yet. most: nodes of a tree. policy: what is still to be
    done to the draft's logits, which may have been divided by a temperature already."""

    def __init__(self, context: Context, policy: Policy, verifier: Verifier, chance: Chance, most: int) -> None:
        self.context, self._verifier, self._chance = context, verifier, chance
        self.policy = replace(policy, temperature=policy.temperature / context.model.temperature)
        self.laid_out = Latest(partial(_lay_out, context))
        self._most = most
        self.unread: tuple[int, ...] = ()  # the last is the root of the next tree

    def read(self, prompt: tuple[int, ...]) -> None:
        """Read the prompt but for its last token, which is the first root. A run without drafting has no slots to read into."""
        if self.context.capacity and len(prompt) > 1:
            self.context.extend(prompt[:-1])
        self.unread = prompt[-1:]

    def fill(self, tree: Tree, clock: Clock) -> Drafted:
        """Tokens for a given tree. Only nodes with children go through the draft."""
        drafted = Drafted(self.unread[-1])
        drafted.tree = tree
        if len(tree) > 1:
            rows, drafted.row = self.laid_out(tree)
            for nodes in tree.inner:
                laws = self._laws(nodes, drafted, rows, clock)
                self._draw(drafted, nodes, [len(tree.children[node]) for node in nodes], laws)
        return drafted

    def follow(self, sprout: Sprout, clock: Clock) -> Drafted:
        """Tokens for a tree that grows along the draft's laws."""
        drafted, rows = Drafted(self.unread[-1]), self._growing
        rows.clear()
        while nodes := sprout.front:
            hold_to(self._most, sprout.tree)
            if nodes[0]:  # the root is read with the prefix
                drafted.row.update({node: len(rows) + i for i, node in enumerate(nodes)})
                rows.add([drafted.row.get(sprout.tree.parents[node]) for node in nodes])
            laws = checked(self._laws(nodes, drafted, rows, clock), "draft")
            self._draw(drafted, nodes, sprout.grow(laws), laws)
        hold_to(self._most, sprout.tree)
        drafted.tree = sprout.tree
        return drafted

    @cached_property
    def _growing(self) -> GrowingRows:
        return GrowingRows(self.context, self._most)

    def keep(self, drafted: Drafted, verdict: Verdict) -> None:
        """Go down the accepted path; what the draft has not read of it, it reads with the next root."""
        if not drafted.has_read:
            self.unread = (*self.unread, verdict.bonus)
            return
        self.context.keep([drafted.row[node] for node in verdict.path[1:] if node in drafted.row])
        last = verdict.path[-1]
        self.unread = (verdict.bonus,) if last == 0 or last in drafted.row else (drafted.tokens[last], verdict.bonus)

    def _laws(self, nodes: Sequence[int], drafted: Drafted, rows: Rows | GrowingRows, clock: Clock) -> torch.Tensor:
        """(nodes, vocab) laws of the tokens after the nodes of one level."""
        with clock.phase("draft"):
            if nodes[0] == 0:
                logits = self.context.extend(self.unread)[None]
                drafted.has_read = True
            else:
                logits = self.context.forward([drafted.tokens[node] for node in nodes], rows)
        return draft_laws(logits, self.policy)

    def _draw(self, drafted: Drafted, nodes: Sequence[int], counts: Sequence[int], laws: torch.Tensor) -> None:
        drawn = self._verifier.draw(self._chance, laws, counts)
        probs = _at(laws, drawn)
        if math.isnan(sum(map(sum, probs))):
            raise overflowed("draft")
        drafted.grow(nodes, laws, drawn, probs)


def _at(laws: torch.Tensor, drawn: Drawn) -> list[list[float]]:
    """What `laws` (nodes, vocab) give the tokens drawn at each node."""
    if laws.device.type == "cpu":
        numbers = laws.numpy()
        return [[numbers.item(row, token) for token in tokens] for row, tokens in enumerate(drawn)]
    rows = [row for row, tokens in enumerate(drawn) for _ in tokens]
    found = iter(laws[rows, [*chain.from_iterable(drawn)]].tolist())  # a device is asked once
    return [[*islice(found, len(tokens))] for tokens in drawn]


def hold_to(most: int, tree: Tree) -> None:
    """Raises BadTree where a step's tree has more nodes than its shaper said; room is made for no more."""
    if len(tree) > most:
        raise BadTree(f"a step's tree has {len(tree)} nodes; its shaper had promised {most} at most")


def _lay_out(context: Context, tree: Tree) -> tuple[Rows, dict[int, int]]:
    """The tree's rows on the draft, and which row a node has."""
    nodes = [node for level in tree.inner[1:] for node in level]  # the root is read with the prefix
    return Rows(tree, nodes, context, below=1), {node: row for row, node in enumerate(nodes)}
