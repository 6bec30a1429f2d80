"""Fast forwards for Llama-like models on a CPU: the same logits as from `transformers`, except for
rounding. Small models spend most of a pass outside their matrix products. Here weights are packed
once: one product computes queries, keys and values, and one gate and up.

PackedLlama is what all of them have in common, FastLlama the one that torch computes, and
native/native_llama.py the one that is compiled. Rotary positions rotate pairs of numbers in queries
and keys. In `transformers` the two numbers are half a head apart; here they are adjacent, because
the rows of the weights are reordered. This does not change the product of a query with a key.

The reference is tree_forward.transformers_forward; choose_forward.py compares each with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional as F

from sequoia.models.cache_and_mask import KVCache
from sequoia.models.memory_needs import PACKED_UP_TO
from sequoia.models.rounded_copy import FEW_ROWS, ROUNDED
from sequoia.this_machine.dtypes import narrowest_dtype

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
_POSITIONS = 1024  # positions in the first table of rotations


def is_llama_like(hf: Any) -> bool:
    """Whether family, activation and rotary positions are those of a Llama."""
    config = hf.config
    return (
        config.model_type in FAMILIES
        and getattr(config, "hidden_act", "") == "silu"
        and getattr(config, "rope_parameters", {}).get("rope_type") == "default"
    )


def runs_packed(hf: Any) -> bool:
    """Whether family, activation, rotary positions, device, dtype and size are supported."""
    rounding = getattr(hf, "rounding", None)
    parameters = rounding.parameters if rounding else hf.num_parameters()
    return (
        is_llama_like(hf)
        and hf.device.type == "cpu"
        and hf.dtype in (torch.float32, torch.bfloat16)
        and parameters * hf.dtype.itemsize <= PACKED_UP_TO
    )


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
        self.cache_dtype = cache_dtype
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
        cached = kv_cache.joint(self._kv_heads, self._dim, self.cache_dtype).narrow(4, 0, end)
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


# -- with torch ------------------------------------------------------------------------------------

Linear = Callable[[torch.Tensor], torch.Tensor]


def fast_forward(hf: Any) -> FastLlama | None:
    """The fast forward of `hf`, or None if `hf` is of a kind that it does not support. `hf` may be
    a rounded copy (see rounded_copy.py)."""
    return FastLlama(hf, hf.dtype) if runs_packed(hf) else None


class FastLlama(PackedLlama):
    """The fast forward, with far fewer small operations than that of `transformers`. Weights are in
    oneDNN's own layout if possible. Attention runs in float32 whatever the dtype of the weights,
    because torch's attention over a bfloat16 cache takes five times as long for one row. One
    complex product applies the rotary positions."""

    name = "fast"

    def __init__(self, hf: Any, dtype: torch.dtype) -> None:
        super().__init__(hf, cache_dtype=torch.float32)
        config = hf.config
        rounding = getattr(hf, "rounding", None)
        pack = partial(packed_rounded, rounding.numbers) if rounding else partial(packed, dtype)
        # of activations; products with rounded weights are computed in bfloat16
        self._dtype: torch.dtype = torch.bfloat16 if rounding else dtype
        self._layers = [_Layer(layer, config, pack, self._dtype) for layer in hf.model.layers]
        self._norm = _Norm(hf.model.norm.weight, config.rms_norm_eps)
        self._head = _head(hf.lm_head, pack)
        self._rotations = Rotations(hf.model.rotary_emb, self._heads, self._kv_heads, self._dim)

    def again(self, hf: Any, dtype: torch.dtype) -> FastLlama:
        return FastLlama(hf, dtype)

    def _logits(
        self,
        x: torch.Tensor,
        rotation: torch.Tensor,
        mask: torch.Tensor,
        cached: torch.Tensor,
        last_only: bool,
    ) -> torch.Tensor:
        rows = len(x)
        cached = cached[: len(self._layers)]  # in the self-test, only the first layers are computed
        new = cached.narrow(4, cached.shape[4] - rows, rows).unbind()
        for layer, into, keys, values in zip(
            self._layers, new, cached[:, 0].unbind(), cached[:, 1].unbind(), strict=True
        ):
            layer(x, rotation, mask, into, keys, values)
        return self._head(self._norm(x[-1:] if last_only else x).to(self._dtype))


def _head(head: Any, pack: Callable[..., Linear]) -> Linear:
    """The product of the states with `head`, which may have only some of the tokens."""
    multiply = pack([head])
    spread = getattr(head, "spread", None)
    return multiply if spread is None else lambda x: spread(multiply(x))


class _Layer:
    """One decoder layer. It changes the residual stream (rows, hidden), float32, in place."""

    def __init__(
        self, layer: Any, config: Any, pack: Callable[..., Linear], dtype: torch.dtype
    ) -> None:
        attention = layer.self_attn
        mlp = layer.mlp
        self._dtype = dtype
        eps = config.rms_norm_eps
        self._dim = attention.head_dim
        self._heads = attention.q_proj.out_features // self._dim
        self._kv_heads = attention.k_proj.out_features // self._dim
        self._scale = attention.scaling
        self._qkv = pack(
            [attention.q_proj, attention.k_proj, attention.v_proj],
            pair_order(self._heads, self._kv_heads, self._dim),
        )
        self._out = pack([attention.o_proj])
        self._gate_up = pack([mlp.gate_proj, mlp.up_proj])
        self._down = pack([mlp.down_proj])
        self._before = _Norm(layer.input_layernorm.weight, eps)
        self._after = _Norm(layer.post_attention_layernorm.weight, eps)
        self._head_norm = (
            _Norm(head_norms(attention, self._heads, self._kv_heads), eps)
            if hasattr(attention, "q_norm")
            else None
        )

    def __call__(
        self,
        x: torch.Tensor,
        rotation: torch.Tensor,
        mask: torch.Tensor,
        into: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
    ) -> None:
        """Add the layer's output to x (rows, hidden). into: the cache slots for the new keys and
        values, (2, 1, kv_heads, rows, head_dim). keys, values: all slots including these, each
        (1, kv_heads, columns, head_dim)."""
        heads = self._qkv(self._before(x).to(self._dtype)).view(len(x), -1, self._dim).float()
        x += self._out(self._attend(heads, rotation, mask, into, keys, values))
        gate, up = self._gate_up(self._after(x).to(self._dtype)).chunk(2, dim=-1)
        x += self._down(F.silu(gate, inplace=True).mul_(up))

    def _attend(
        self,
        heads: torch.Tensor,
        rotation: torch.Tensor,
        mask: torch.Tensor,
        into: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
    ) -> torch.Tensor:
        """The attention's output (rows, heads * head_dim). heads: queries, keys and values of the
        new rows, (rows, heads + 2 * kv_heads, head_dim), float32."""
        # (heads + 2 * kv_heads, rows, head_dim)
        heads = _rotate(self._normed(heads), rotation).transpose(0, 1)
        into.copy_(heads[self._heads :].view(into.shape))
        seen = F.scaled_dot_product_attention(
            heads[None, : self._heads],
            keys,
            values,
            attn_mask=mask,
            scale=self._scale,
            enable_gqa=self._heads != self._kv_heads,
        )
        return seen.transpose(1, 2).reshape(seen.shape[2], -1).to(self._dtype)

    def _normed(self, heads: torch.Tensor) -> torch.Tensor:
        """`heads` with queries and keys normalised, if the model has norms for them."""
        if self._head_norm is None:
            return heads
        rotated = self._heads + self._kv_heads
        return torch.cat((self._head_norm(heads[:, :rotated]), heads[:, rotated:]), 1)


class _Norm:
    """x * weight / sqrt(mean(x * x) + eps) over the last dimension, in float32, with four
    operations. torch needs ten on a CPU, and twice the time for a few rows."""

    def __init__(self, weight: torch.Tensor, eps: float) -> None:
        size = weight.shape[-1]
        self._weight = weight.float() * size**0.5
        self._least = torch.tensor((size * eps) ** 0.5, dtype=torch.float32)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self._weight).div_(
            torch.hypot(torch.linalg.vector_norm(x, dim=-1, keepdim=True), self._least)
        )


def _rotate(heads: torch.Tensor, rotation: torch.Tensor) -> torch.Tensor:
    """`heads` (rows, heads, head_dim) with rotary positions applied. The two numbers of each pair
    are adjacent. rotation: as `Rotations` returns it."""
    pairs = torch.view_as_complex(heads.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * rotation).flatten(-2)


def packed(
    dtype: torch.dtype, modules: Sequence[torch.nn.Linear], order: torch.Tensor | None = None
) -> Linear:
    """One product for all linear layers `modules`, which have the same input: (rows, in) ->
    (rows, sum of outs). The weights are in oneDNN's layout if oneDNN supports their dtype here.
    dtype: that of the weights. order: the indices of the outputs in their new order, None to leave
    them as they are."""
    weight, bias = joined(modules, order)
    return _product(weight.to(dtype), None if bias is None else bias.to(dtype))


def _product(weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
    try:
        reordered = torch.ops.mkldnn._reorder_linear_weight(weight, 8)
        multiply = torch.ops.mkldnn._linear_pointwise
        multiply(weight.new_zeros(1, weight.shape[1]), reordered, bias, "none", [], "")
    except (RuntimeError, NotImplementedError, AttributeError):
        # torch has no oneDNN, or oneDNN does not support this dtype on this CPU
        return lambda x: F.linear(x, weight, bias)
    return lambda x: multiply(x, reordered, bias, "none", [], "")


def packed_rounded(
    numbers: str, modules: Sequence[Any], order: torch.Tensor | None = None
) -> Linear:
    """`packed` for the RoundedLinear layers `modules`, which are joined in `numbers`. More than
    FEW_ROWS rows are multiplied with the same weights in the dtype of `narrowest_dtype`. (Some CPUs
    take four times as long in bfloat16 as in float32.)"""
    weight, bias = joined(modules, order)
    dtype = narrowest_dtype(weight.device)
    wide = _product(weight.to(dtype), None if bias is None else bias.to(dtype))
    few = ROUNDED[numbers](weight)

    def multiply(x: torch.Tensor) -> torch.Tensor:
        if len(x) > FEW_ROWS:
            return wide(x.to(dtype))
        product = few(x)
        return product if bias is None else product + bias

    return multiply
