"""Rows of a token tree on a model: where each stands and which others it sees. Knows no model's
forward and no tokens.

A row of a tree is a node that is written after the prefix; not every node need have one
(the draft reads no leaves).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from sequoia.algorithm.tree import Tree


class MaskSpec(Protocol):
    """What rows need to know of where they are written."""

    @property
    def capacity(self) -> int: ...

    @property
    def mask_dtype(self) -> torch.dtype: ...

    @property
    def device(self) -> torch.device: ...


class TreeMask:
    """Which rows see which: everything before the tree's rows, and of the rows themselves
    what `seen` (n, n) says.

    The additive mask is laid out once, with `capacity` open columns before the tree's own; the mask
    for any prefix is a view. own: the tree's columns, (n, n), 0 where the row sees the column and
    the least number elsewhere.
    """

    def __init__(
        self, seen: torch.Tensor, capacity: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        n = len(seen)
        self._capacity = capacity
        self._mask = torch.zeros(n, capacity + n, dtype=dtype)  # (row, column)
        self._mask[:, capacity:].masked_fill_(~seen, torch.finfo(dtype).min)
        self._mask = self._mask.to(device)
        self.own = self._mask[:, capacity:]

    def view(self, prefix: int, first: int, last: int) -> torch.Tensor:
        """(1, 1, last - first, prefix + last) for the rows first..last after `prefix` kept ones."""
        return self._mask[None, None, first:last, self._capacity - prefix : self._capacity + last]


def causal(n: int, spec: MaskSpec, capacity: int) -> TreeMask:
    """The mask of `n` rows in a line behind up to `capacity` kept ones."""
    return TreeMask(torch.ones(n, n).tril().bool(), capacity, spec.mask_dtype, spec.device)


class TreeLayout:
    """A fixed set of tree rows on one model: their positions and mask, made once and used at every
    step.

    `below` levels of the tree belong to the prefix already. depths: (rows,) levels
    below the prefix's end.
    """

    def __init__(self, tree: Tree, nodes: Sequence[int], spec: MaskSpec, below: int = 0) -> None:
        seen = torch.from_numpy(tree.ancestor_mask)[list(nodes)][:, list(nodes)]
        self.mask = TreeMask(seen, spec.capacity, spec.mask_dtype, spec.device)
        self.depths = torch.tensor(
            [tree.depths[node] - below for node in nodes], dtype=torch.long, device=spec.device
        )


def whole_tree_layout(spec: MaskSpec, tree: Tree) -> TreeLayout:
    """A row for each node of `tree`; those of a cut of it are the first of them."""
    return TreeLayout(tree, range(len(tree)), spec)


class GrowingTreeLayout:
    """Rows of a tree that grows while it is read: a new row copies what its parent sees. One store
    of at most `most` rows, used again by every tree; like Rows otherwise."""

    def __init__(self, spec: MaskSpec, most: int) -> None:
        # the last row stays as it is: the parent of the first ones
        nothing = torch.zeros(most + 1, most + 1, dtype=torch.bool)
        self.mask = TreeMask(nothing, spec.capacity, spec.mask_dtype, spec.device)
        self.depths = torch.full((most + 1,), -1, dtype=torch.long, device=spec.device)
        self.clear()

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Begin another tree."""
        self._count = 0

    def add(self, parents: Sequence[int | None]) -> None:
        """A new row below each of `parents`, rows of this tree, or right after the prefix
        where that is None."""
        first = self._count
        last = self._count + len(parents)
        above = torch.tensor(
            [-1 if parent is None else parent for parent in parents], device=self.depths.device
        )
        self.mask.own[first:last] = self.mask.own[above]
        self.mask.own.diagonal()[first:last] = 0
        self.depths[first:last] = self.depths[above] + 1
        self._count = last
