"""The key-value cache as preallocated slots: a run writes rows after its prefix, then keeps some of
them. Knows no model.

`transformers` calls `update(k, v, layer_idx)` on it like on any cache. Nothing is allocated after
a layer's first call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from transformers.cache_utils import Cache, CacheLayerMixin


class CacheLayer(CacheLayerMixin):
    """Keys and values of one layer, (1, kv_heads, capacity, head_dim) each; rows up to
    `end` are in use."""

    is_sliding = False
    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity = capacity
        self.start = 0
        self.end = 0
        # places of the new rows where they are only known on the device
        self.where: torch.Tensor | None = None

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        # Zeros, as a recorded forward reads rows not written yet: their weight is 0, which makes
        # nothing of a NaN but a NaN.
        self.keys = key_states.new_zeros(
            (*key_states.shape[:2], self.capacity, key_states.shape[3])
        )
        self.values = value_states.new_zeros(
            (*value_states.shape[:2], self.capacity, value_states.shape[3])
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new rows to [start, end) and give back all rows up to `end`."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        keys = self.keys[:, :, : self.end]
        values = self.values[:, :, : self.end]
        if self.where is not None:
            return keys.index_copy_(2, self.where, key_states), values.index_copy_(
                2, self.where, value_states
            )
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
    """All layers of one model for one run. `length` rows are the prefix; `written` rows stand after
    it, not yet kept."""

    def __init__(self, layers: int, capacity: int) -> None:
        self.cache_layers = [CacheLayer(capacity) for _ in range(layers)]
        super().__init__(layers=list(self.cache_layers))
        self.capacity = capacity
        self.length = 0
        self.written = 0
        self._joint: torch.Tensor | None = None

    def joint(self, kv_heads: int, head_dim: int, like: torch.Tensor) -> torch.Tensor:
        """Keys and values of all layers as one store of the dtype and device of `like`, made at the
        first call: (layers, 2, 1, kv_heads, capacity, head_dim). For a forward of ours, which then
        moves all of it at once."""
        if self._joint is None:
            self._joint = like.new_empty(
                (len(self.cache_layers), 2, 1, kv_heads, self.capacity, head_dim)
            )
            for layer, (keys, values) in zip(self.cache_layers, self._joint, strict=True):
                layer.keys = keys
                layer.values = values
                layer.is_initialized = True
        return self._joint

    @property
    def allocated(self) -> bool:
        """Whether the rows are there already. Layers that take their keys from another
        layer never have any."""
        return any(layer.is_initialized for layer in self.cache_layers)

    @torch.inference_mode()
    def clear(self) -> None:
        """Begin another run in the same place. Rows are zeros again, as they are when new."""
        self.length = self.written = 0
        for layer in self.cache_layers:
            if layer.is_initialized:
                layer.keys.zero_()
                layer.values.zero_()

    @property
    def start(self) -> int:
        """Where the next update of every layer writes."""
        return self.cache_layers[0].start

    @contextmanager
    def fixed_window(self, where: torch.Tensor, reach: int) -> Iterator[None]:
        """Within it updates write to the places in `where` (rows,) and give back `reach` rows,
        whatever was reserved: nothing but tensors that stay where they are, so that a recording of
        it holds for every prefix."""
        before = [layer.end for layer in self.cache_layers]
        for layer in self.cache_layers:
            layer.where = where
            layer.end = reach
        try:
            yield
        finally:
            for layer, end in zip(self.cache_layers, before, strict=True):
                layer.where = None
                layer.end = end

    def reserve(self, rows: int) -> None:
        """Make room for the next `rows` rows; every layer's next update writes there."""
        start = self.length + self.written
        for layer in self.cache_layers:
            layer.start = start
            layer.end = start + rows
        self.written += rows

    def keep(self, rows: Sequence[int]) -> None:
        """Make the written rows `rows` (increasing, counted from the prefix's end) part of the
        prefix; forget the others."""
        # rows before it are in place
        moved = next((i for i, row in enumerate(rows) if row != i), len(rows))
        if moved < len(rows):
            self._move([row + self.length for row in rows[moved:]], self.length + moved)
        self.length = self.length + len(rows)
        self.written = 0

    def _move(self, rows: Sequence[int], to: int) -> None:
        """Copy the given rows, in order, to `to` and after."""
        stores = (
            [self._joint]
            if self._joint is not None
            else [
                store
                for layer in self.cache_layers
                if layer.is_initialized
                for store in (layer.keys, layer.values)
            ]
        )  # (..., capacity, head_dim) each
        for store in stores:
            # numpy takes a third of torch's time for a few rows; all are taken before any
            # is put: they overlap
            if store.is_cpu:
                numbers = (
                    store.view(torch.int16) if store.dtype == torch.bfloat16 else store
                ).numpy()
                numbers[..., to : to + len(rows), :] = numbers.take(rows, -2)
        if elsewhere := [store for store in stores if not store.is_cpu]:
            _move_on_devices(elsewhere, rows, to)


@torch.inference_mode()
def _move_on_devices(stores: Sequence[torch.Tensor], rows: Sequence[int], to: int) -> None:
    """The same for stores that are not on the CPU. Where the rows are is told each device once: it
    has to wait for it."""
    index = {
        device: torch.tensor(rows, device=device) for device in {store.device for store in stores}
    }
    for store in stores:
        store.narrow(-2, to, len(rows)).copy_(store.index_select(-2, index[store.device]))
