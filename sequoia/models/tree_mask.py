"""The tree attention mask, and the positions of a tree's nodes. Independent of the model's
forward and of tokens.

A layout lists the nodes that go through a model after the prefix. Not every node does: the draft
model never processes leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from sequoia.algorithm.tree import Tree

_ALIGNED = 8  # numbers; 16 bytes of the narrowest type


class MaskSpec(Protocol):
    """What a mask has to fit: the prefix's greatest length, and the dtype and device of the
    model's masks."""

    @property
    def capacity(self) -> int: ...

    @property
    def mask_dtype(self) -> torch.dtype: ...

    @property
    def device(self) -> torch.device: ...


class TreeMask:
    """The additive mask of n nodes: each sees the whole prefix, and those of the n nodes that
    `seen` (n, n) says.

    The mask is built once, with `capacity` open columns before the nodes' own; the mask for any
    prefix is a view of it. own: the nodes' columns (n, n), 0 where the row's node sees the
    column's and the least number of the dtype elsewhere.
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
        """(1, 1, last - first, prefix + last) for the nodes first..last after `prefix` kept
        slots."""
        return self._mask[None, None, first:last, self._capacity - prefix : self._capacity + last]


def causal(n: int, spec: MaskSpec, capacity: int) -> TreeMask:
    """The usual causal mask of `n` tokens after a prefix of up to `capacity`."""
    return TreeMask(torch.ones(n, n).tril().bool(), capacity, spec.mask_dtype, spec.device)


class TreeLayout:
    """Mask and positions of fixed nodes of a tree on one model, made once and used at every step.

    `below` levels of the tree belong to the prefix already. depths: (nodes,) levels below the
    prefix's end.
    """

    def __init__(self, tree: Tree, nodes: Sequence[int], spec: MaskSpec, below: int = 0) -> None:
        seen = torch.from_numpy(tree.ancestor_mask)[list(nodes)][:, list(nodes)]
        self.mask = TreeMask(seen, spec.capacity, spec.mask_dtype, spec.device)
        self.depths = torch.tensor(
            [tree.depths[node] - below for node in nodes], dtype=torch.long, device=spec.device
        )


def whole_tree_layout(spec: MaskSpec, tree: Tree) -> TreeLayout:
    """The layout of all nodes of `tree`. The nodes of a cut of it come first, so it serves cuts
    too."""
    return TreeLayout(tree, range(len(tree)), spec)


class DynamicTreeLayout:
    """A TreeLayout that grows level by level: a new node sees what its parent sees, and itself.
    Allocated once for at most `most` nodes and used again by every tree."""

    def __init__(self, spec: MaskSpec, most: int) -> None:
        # the last row is never changed: the parent of the first nodes
        nothing = torch.zeros(most + 1, most + 1, dtype=torch.bool)
        self.mask = TreeMask(nothing, spec.capacity, spec.mask_dtype, spec.device)
        self.depths = torch.full((most + 1,), -1, dtype=torch.long, device=spec.device)
        self.clear()

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Start another tree."""
        self._count = 0

    def add(self, parents: Sequence[int | None]) -> None:
        """Add a node below each of `parents`, which are positions in this layout, or None for right
        after the prefix."""
        first = self._count
        last = self._count + len(parents)
        above = torch.tensor(
            [-1 if parent is None else parent for parent in parents], device=self.depths.device
        )
        self.mask.own[first:last] = self.mask.own[above]
        self.mask.own.diagonal()[first:last] = 0
        self.depths[first:last] = self.depths[above] + 1
        self._count = last


def aligned(mask: torch.Tensor, times: int = 1) -> torch.Tensor:
    """A copy of `mask` (1, 1, rows, columns), so many times one below the other, with rows aligned
    to 16 bytes, which attention kernels load at once. Our views begin anywhere, and torch checks
    only their strides."""
    rows, columns = mask.shape[2:]
    # the columns that are added are never attended to, but a kernel may read them
    padded = mask.new_zeros((1, times, rows, -(-columns // _ALIGNED) * _ALIGNED))
    padded[..., :columns] = mask
    return padded.view(1, 1, times * rows, -1)[..., :columns]
