"""What a pass over a tree attends to: the KV cache of one run, and the mask and positions of the
tree's nodes.

The cache has a fixed number of slots. Passes write slots after the prefix. Then the run adds some
of these slots to the prefix and drops the others. `transformers` calls `update(k, v, layer_idx)`,
as on its own caches. The first pass allocates the memory.

A layout is the mask and the positions of those nodes that a model processes after the prefix, one
row for each. They may be only a part of the tree. For example, the draft model skips the leaves of
a fixed tree, so a node's row there is not its number. Row i is processed into slot i after the
prefix; `keep` gets rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from sequoia.algorithm.tree import Tree


class CacheLayer(CacheLayerMixin):
    """Keys and values of one layer, each (1, kv_heads, capacity, head_dim). The next update writes
    the slots [start, end) and returns the slots [0, end)."""

    is_sliding = False
    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity = capacity
        self.start = 0
        self.end = 0
        # the slots to write instead of [start, end); a tensor, because a CUDA graph needs one
        self.indices: torch.Tensor | None = None

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Use these two tensors, with room for all slots, for the keys and the values."""
        self.keys = key_states
        self.values = value_states
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new keys and values to the slots [start, end), or to `indices` if set. Returns
        keys and values of the slots [0, end)."""
        keys = self.keys[:, :, : self.end]
        values = self.values[:, :, : self.end]
        if self.indices is not None:
            keys.index_copy_(2, self.indices, key_states)
            values.index_copy_(2, self.indices, value_states)
            return keys, values
        keys[:, :, self.start :] = key_states
        values[:, :, self.start :] = value_states
        return keys, values

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.start + query_length, 0

    def get_seq_length(self) -> int:
        return self.start

    def get_max_length(self) -> int:
        return self.capacity


class KVCache(Cache):
    """The KV cache of all layers of a model for one run. The first `length` slots are the prefix;
    the `written` slots after it have not been kept yet.

    alike: whether the layers are expected to have the same shape, dtype and device. If so, the
    layers that match the first one share one tensor for keys and one for values, the first two in
    `memory`. The accepted slots of all these layers are then moved at once. On a GPU, launching
    kernels for each layer would take longer than the moves themselves.
    memory: the tensors that contain all keys and values, each (..., capacity, head_dim).
    """

    def __init__(self, layers: int, capacity: int, alike: bool = False) -> None:
        self.cache_layers = [CacheLayer(capacity) for _ in range(layers)]
        super().__init__(layers=list(self.cache_layers))
        self.capacity = capacity
        self.length = 0
        self.written = 0
        self.has_damaged_slots = False  # see Context.drop_values
        self._alike = alike
        self.memory: list[torch.Tensor] = []

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *_: object,
        **__: object,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write a pass's keys and values of a layer, each (1, kv_heads, rows, head_dim) (see
        CacheLayer)."""
        return self.allocated(layer_idx, key_states, value_states).update(key_states, value_states)

    def allocated(self, i: int, *states: torch.Tensor) -> CacheLayer:
        """Layer `i`, with its memory allocated. states: keys and values of a pass, for their shape,
        dtype and device."""
        layer = self.cache_layers[i]
        if not layer.is_initialized:
            layer.lazy_initialization(*self._room(i, *states))
        return layer

    def slots(self, device: torch.device) -> torch.Tensor:
        """The slots (rows,), on `device`, that the next update of every layer writes."""
        layer = self.cache_layers[0]
        if layer.indices is not None:
            return layer.indices
        return torch.arange(layer.start, layer.end, device=device)

    def _room(self, i: int, *states: torch.Tensor) -> list[torch.Tensor]:
        """Tensors for the keys and the values of layer `i` in all slots. states: those of a pass.
        Zeros, because a captured forward also reads slots that are not written yet. Their attention
        weight is 0, but 0 * NaN would be NaN."""
        if self._alike and not self.memory:
            layers = len(self.cache_layers)
            self.memory += [
                one.new_zeros((layers, *one.shape[:2], self.capacity, one.shape[3]))
                for one in states
            ]
        shared = [one[i] for one in self.memory[:2]] if self._alike else []
        if [*map(_kind, shared)] == [*map(_kind, states)]:
            return shared
        own = [one.new_zeros((*one.shape[:2], self.capacity, one.shape[3])) for one in states]
        self.memory += own
        return own

    def joint(self, kv_heads: int, head_dim: int, dtype: torch.dtype) -> torch.Tensor:
        """Keys and values of all layers as one tensor on the CPU, (layers, 2, 1, kv_heads,
        capacity, head_dim). With one tensor, the accepted slots of all layers are moved at once."""
        if not self.memory:
            shape = (len(self.cache_layers), 2, 1, kv_heads, self.capacity, head_dim)
            self.memory = [torch.empty(shape, dtype=dtype)]
            for layer, (keys, values) in zip(self.cache_layers, self.memory[0], strict=True):
                layer.lazy_initialization(keys, values)
        return self.memory[0]

    @torch.inference_mode()
    def clear(self) -> None:
        """Empty the cache for another run, and set all allocated slots to zero."""
        self.length = self.written = 0
        self.has_damaged_slots = False
        for tensor in self.memory:
            tensor.zero_()

    @property
    def start(self) -> int:
        """The first slot that the next update of every layer writes."""
        return self.cache_layers[0].start

    @contextmanager
    def fixed_window(self, indices: torch.Tensor, length: int) -> Iterator[None]:
        """A context in which updates write the slots `indices` (rows,) and return the first
        `length` slots, whatever was reserved. No tensor changes its address. So a CUDA graph
        captured here can be replayed after a prefix of another length, if prefix and rows fit into
        `length` slots."""
        end = self.cache_layers[0].end  # the same for every layer
        self._set_window(indices, length)
        try:
            yield
        finally:
            self._set_window(None, end)

    def _set_window(self, indices: torch.Tensor | None, end: int) -> None:
        for layer in self.cache_layers:
            layer.indices = indices
            layer.end = end

    def reserve(self, rows: int) -> None:
        """Reserve the next `rows` slots: the next update of every layer writes them."""
        start = self.length + self.written
        for layer in self.cache_layers:
            layer.start = start
            layer.end = start + rows
        self.written += rows

    def keep(self, rows: Sequence[int]) -> None:
        """Add the slots of these `rows` (increasing) to the prefix, and drop the other written
        slots."""
        # how many of `rows` are already in place
        moved = next((i for i, row in enumerate(rows) if row != i), len(rows))
        if moved < len(rows):
            self._move([row + self.length for row in rows[moved:]], self.length + moved)
        end = self.length + self.written
        self.length += len(rows)
        self.written = 0
        if self.has_damaged_slots:
            self.has_damaged_slots = False
            for tensor in self.memory:
                tensor[..., self.length : end, :] = 0

    def _move(self, slots: Sequence[int], to: int) -> None:
        """Copy `slots`, in order, to the slots from `to` on."""
        elsewhere = []
        for tensor in self.memory:
            if tensor.is_cpu:
                # For a few slots numpy needs a third of torch's time. Source and destination may
                # overlap; this is safe, because `take` copies all slots before any is written.
                numbers = (
                    tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
                ).numpy()
                numbers[..., to : to + len(slots), :] = numbers.take(slots, -2)
            else:
                elsewhere.append(tensor)
        _move_on_devices(elsewhere, slots, to)


def _kind(states: torch.Tensor) -> tuple[Any, ...]:
    """Heads, head size, dtype and device of keys or values (1, kv_heads, tokens, head_dim)."""
    return states.shape[1], states.shape[3], states.dtype, states.device


@torch.inference_mode()
def _move_on_devices(tensors: Sequence[torch.Tensor], slots: Sequence[int], to: int) -> None:
    """`_move` for tensors that are not on the CPU. The slot numbers are copied only once to each
    device, because the host waits for every such copy."""
    index = {
        device: torch.tensor(slots, device=device)
        for device in {tensor.device for tensor in tensors}
    }
    for tensor in tensors:
        tensor.narrow(-2, to, len(slots)).copy_(tensor.index_select(-2, index[tensor.device]))


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
    """Mask and positions of a tree's nodes on one model, built once and used in every step with
    that tree. It also serves `tree.limit(...)`, which consists of the first nodes of `tree`.

    nodes: those that the model processes, None for all. below: the number of the tree's top levels
    that are part of the prefix already; `nodes` are below these levels. depths: (nodes,) the
    position of each node, counted from the end of the prefix.
    """

    def __init__(
        self, spec: MaskSpec, tree: Tree, nodes: Sequence[int] | None = None, below: int = 0
    ) -> None:
        nodes = range(len(tree)) if nodes is None else nodes
        seen = torch.from_numpy(tree.ancestor_mask)[list(nodes)][:, list(nodes)]
        self.mask = TreeMask(seen, spec.capacity, spec.mask_dtype, spec.device)
        self.depths = torch.tensor(
            [tree.depths[node] - below for node in nodes], dtype=torch.long, device=spec.device
        )


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
