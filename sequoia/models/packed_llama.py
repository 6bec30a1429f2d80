"""What the faster forwards of Llama-like models on a CPU have in common. They read weights that
were packed beforehand: one product computes queries, keys and values, and one gate and up.

Rotary positions rotate pairs of numbers in queries and keys. In `transformers` the two numbers are
half a head apart; here they are adjacent, because the rows of the weights are reordered. This does
not change the product of a query with a key.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional as F

from sequoia.models.cache_and_mask import KVCache
from sequoia.models.memory_needs import PACKED_UP_TO

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
_POSITIONS = 1024  # positions in the first table of rotations


def runs_packed(hf: Any) -> bool:
    """Whether family, activation, rotary positions, device, dtype and size are supported."""
    config = hf.config
    rounding = getattr(hf, "rounding", None)
    parameters = rounding.parameters if rounding else hf.num_parameters()
    family = (
        config.model_type in FAMILIES
        and getattr(config, "hidden_act", "") == "silu"
        and getattr(config, "rope_parameters", {}).get("rope_type") == "default"
    )
    runs_here = (
        hf.device.type == "cpu"
        and hf.dtype in (torch.float32, torch.bfloat16)
        and parameters * hf.dtype.itemsize <= PACKED_UP_TO
    )
    return family and runs_here


class PackedLlama(ABC):
    """A forward that reads weights packed for it, a Forward like any other: (ids, positions, mask,
    kv_cache, last_only). The batch size is 1. Keys and values are written to the KV cache, in
    `cache_dtype`."""

    name: str
    mask_dtype = torch.float32

    def __init__(self, hf: Any, cache_dtype: torch.dtype) -> None:
        attention = hf.model.layers[0].self_attn
        self._dim: int = attention.head_dim
        self._heads: int = attention.q_proj.out_features // self._dim
        self._kv_heads: int = attention.k_proj.out_features // self._dim
        self._rotations: Rotations
        self._cache_dtype = cache_dtype
        self._embedding = hf.model.embed_tokens.weight

    @abstractmethod
    def again(self, hf: Any, dtype: torch.dtype) -> PackedLlama:
        """The same forward for `hf`, which may have fewer layers now, with weights in `dtype`."""

    def __call__(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        kv_cache: KVCache,
        last_only: bool,
    ) -> torch.Tensor:
        """Logits (rows, vocab), or (1, vocab) with `last_only`. ids, positions: (1, rows); mask:
        (1, 1, rows, columns)."""
        # (rows, hidden); the residual stream stays float32
        x = F.embedding(ids[0], self._embedding).float()
        end = kv_cache.length + kv_cache.written
        rotation = self._rotations(positions[0], end)
        cached = kv_cache.joint(self._kv_heads, self._dim, self._cache_dtype).narrow(4, 0, end)
        return self._logits(x, rotation, mask, cached, last_only)

    @abstractmethod
    def _logits(
        self,
        x: torch.Tensor,
        rotation: torch.Tensor,
        mask: torch.Tensor,
        cached: torch.Tensor,
        last_only: bool,
    ) -> torch.Tensor:
        """The logits of `__call__`. x: the embeddings (rows, hidden), float32, which may be
        overwritten. rotation: as Rotations returns it. cached: keys and values of all layers
        (layers, 2, 1, kv_heads, columns, head_dim); the last columns are the rows' own, and are
        not written yet."""


class Rotations:
    """A table with the rotations of `heads` queries, `kv_heads` keys and as many values at each
    position, shared by all runs. It grows when a higher position is needed."""

    def __init__(self, rotary: Any, heads: int, kv_heads: int, dim: int) -> None:
        self._rotary = rotary
        self._rotated = heads + kv_heads
        self._fixed = kv_heads
        self._half = dim // 2
        self._table = self._made(_POSITIONS)

    def __call__(self, positions: torch.Tensor, reach: int) -> torch.Tensor:
        """The rotations (rows, heads + 2 * kv_heads, head_dim / 2), complex64, for `positions`
        (rows,), which must all be below `reach`."""
        table = self._table
        if reach > len(table):
            # safe in several threads: each uses the table it made, and the last assigned is kept
            self._table = table = self._made(max(reach, 2 * len(table)))
        return table[positions]

    def _made(self, positions: int) -> torch.Tensor:
        """The table for positions below `positions`, computed by the model's own module. The factor
        for values, which are not rotated, is 1."""
        # (1, positions, head_dim), both halves alike
        like = torch.zeros(1, 1, dtype=torch.float32)
        cos, sin = self._rotary(like, torch.arange(positions)[None])
        rotated = torch.complex(
            cos[0, :, None, : self._half].float(), sin[0, :, None, : self._half].float()
        )
        fixed = rotated.new_ones(positions, self._fixed, self._half)
        return torch.cat((rotated.expand(-1, self._rotated, -1), fixed), 1)


def pair_order(heads: int, kv_heads: int, dim: int) -> torch.Tensor:
    """The order of the weights' rows for queries, keys and values that makes the two numbers of
    each rotated pair adjacent. Values stay as they are."""
    order = torch.arange((heads + 2 * kv_heads) * dim).view(-1, dim)
    rotated = heads + kv_heads
    order[:rotated] = order[:rotated, _pairs(dim)]
    return order.flatten()


def _pairs(dim: int) -> torch.Tensor:
    """0, dim / 2, 1, dim / 2 + 1, ..."""
    return torch.arange(dim).view(2, -1).T.flatten()


def head_norms(attention: Any, heads: int, kv_heads: int) -> torch.Tensor:
    """The weights (heads + kv_heads, head_dim) of the norms that Qwen3 applies to queries and keys,
    in the order of `pair_order`."""
    query = attention.q_norm.weight.expand(heads, -1)
    key = attention.k_norm.weight.expand(kv_heads, -1)
    return torch.cat((query, key))[:, _pairs(attention.head_dim)]


def joined(
    modules: Sequence[torch.nn.Linear], order: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Weight (sum of outs, in) and bias (sum of outs,) of one layer that replaces `modules`."""
    weight = torch.cat([module.weight for module in modules])
    bias = torch.cat([module.bias for module in modules]) if modules[0].bias is not None else None
    if order is None:
        return weight, bias
    return weight[order], None if bias is None else bias[order]
