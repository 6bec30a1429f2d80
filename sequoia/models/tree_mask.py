"""The tree attention mask, and the positions of a tree's nodes.

A layout is the mask and the positions of those nodes that a model processes after the prefix. They
may be only a part of the tree. For example, the draft model skips the leaves of a fixed tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from sequoia.algorithm.tree import Tree

_ALIGNED = 8  # elements; 16 bytes in the narrowest dtype


class MaskSpec(Protocol):
    """What a mask has to fit. capacity: the greatest length of the prefix, in cache slots.
    mask_dtype, device: the dtype and device of the mask."""

    @property
    def capacity(self) -> int: ...

    @property
    def mask_dtype(self) -> torch.dtype: ...

    @property
    def device(self) -> torch.device: ...


class TreeMask:
    """The additive attention mask of n nodes. Each node attends to the whole prefix, and to the
    nodes for which its row of `seen` (n, n) is true.

    The mask is built once, with `capacity` columns of zeros on the left. The mask for any prefix is
    a view of it. own: (n, n) the columns of the nodes, 0 where the row's node attends to the
    column's node, and the dtype's lowest value elsewhere.
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
        """The mask (1, 1, last - first, prefix + last) of the nodes in range(first, last) after a
        prefix of `prefix` slots."""
        return self._mask[None, None, first:last, self._capacity - prefix : self._capacity + last]


def causal(n: int, spec: MaskSpec, capacity: int) -> TreeMask:
    """The ordinary causal mask of `n` tokens after a prefix of up to `capacity` slots."""
    return TreeMask(torch.ones(n, n).tril().bool(), capacity, spec.mask_dtype, spec.device)


class TreeLayout:
    """Mask and positions of given nodes of a tree on one model, built once and used in every step
    with that tree.

    below: the number of the tree's top levels that are part of the prefix already; `nodes` are
    below these levels. depths: (nodes,) the position of each node, counted from the end of the
    prefix.
    """

    def __init__(self, tree: Tree, nodes: Sequence[int], spec: MaskSpec, below: int = 0) -> None:
        seen = torch.from_numpy(tree.ancestor_mask)[list(nodes)][:, list(nodes)]
        self.mask = TreeMask(seen, spec.capacity, spec.mask_dtype, spec.device)
        self.depths = torch.tensor(
            [tree.depths[node] - below for node in nodes], dtype=torch.long, device=spec.device
        )


def whole_tree_layout(spec: MaskSpec, tree: Tree) -> TreeLayout:
    """The layout of all nodes of `tree`. It also serves `tree.limit(...)`, which consists of the
    first nodes of `tree`."""
    return TreeLayout(tree, range(len(tree)), spec)


class DynamicTreeLayout:
    """A TreeLayout that grows level by level. It is allocated once, for up to `most` nodes, and
    reused for other trees. A new node attends to itself and to whatever its parent attends to."""

    def __init__(self, spec: MaskSpec, most: int) -> None:
        # the last row never changes: it stands for the missing parent of nodes right after the
        # prefix
        nothing = torch.zeros(most + 1, most + 1, dtype=torch.bool)
        self.mask = TreeMask(nothing, spec.capacity, spec.mask_dtype, spec.device)
        self.depths = torch.full((most + 1,), -1, dtype=torch.long, device=spec.device)
        self.clear()

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Remove all nodes, to start another tree."""
        self._count = 0

    def add(self, parents: Sequence[int | None]) -> None:
        """Add one node for each of `parents`: the number of its parent in this layout, or None if
        the node comes right after the prefix."""
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
    """(1, 1, times * rows, columns): copies of `mask` (1, 1, rows, columns), one below the other,
    with rows aligned to 16 bytes. Attention kernels load 16 bytes at once, and torch does not check
    the alignment. A `TreeMask.view` can start at any element."""
    rows, columns = mask.shape[2:]
    # the padding is not part of the result, but a kernel may read it
    padded = mask.new_zeros((1, times, rows, -(-columns // _ALIGNED) * _ALIGNED))
    padded[..., :columns] = mask
    return padded.view(1, 1, times * rows, -1)[..., :columns]
