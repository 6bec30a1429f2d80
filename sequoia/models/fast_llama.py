"""A fast forward for Llama-like models: the same arithmetic as in `transformers`, with a
fraction of its small operations.

Small models on a CPU spend most of a pass outside their matrix products. Here one product makes
queries, keys and values, and another makes gate and up. Weights are packed once in oneDNN's own
layout. Attention runs in float32 whatever the weights are: torch's attention over a bfloat16 cache
takes five times as long for one row. Rotary positions are one complex product. The reference is
tree_forward.transformers_forward: choose_forward.py compares the two when a model is loaded and
uses this one only where they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import torch
from torch.nn import functional as F

from sequoia.models.kv_cache import KVCache
from sequoia.this_machine.dtypes import narrowest_dtype

Linear = Callable[[torch.Tensor], torch.Tensor]

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
# Up to so many rows a pass is bound by reading weights, which int8 halves; beyond, by arithmetic.
INT8_ROWS = 8
# inputs that torch's int8 kernel reads at a time; shorter rows are padded with zeros
INT8_STEP = 16
_POSITIONS = 1024  # positions whose rotations are made at first
_PACKED_UP_TO = 2**30  # bytes of weights; the packed copy needs as many again


def fast_forward(hf: Any, int8: bool = False) -> FastLlama | None:
    """The fast forward of `hf`, or None if there is none: for another family, activation or
    position scheme, or a model that is too large.

    int8: with weights rounded to int8, for a bfloat16 draft. Verification is exact for any draft
    distribution, so a draft may be rounded; a target may not.
    """
    if int8 and hf.dtype != torch.bfloat16:
        return None
    config = hf.config
    family = (
        config.model_type in FAMILIES
        and getattr(config, "hidden_act", "") == "silu"
        and getattr(config, "rope_parameters", {}).get("rope_type") == "default"
    )
    runs_here = (
        hf.device.type == "cpu"
        and hf.dtype in (torch.float32, torch.bfloat16)
        and sum(p.numel() * p.element_size() for p in hf.parameters()) <= _PACKED_UP_TO
    )
    return FastLlama(hf, int8) if family and runs_here else None


class FastLlama:
    """The fast forward, called as every Forward: (ids, positions, mask, kv_cache, last_only). Batch
    size 1; keys and values are written to the KV cache."""

    name = "fast"
    mask_dtype = torch.float32

    def __init__(self, hf: Any, int8: bool = False) -> None:
        config = hf.config
        body = hf.model
        pack = packed_int8 if int8 else packed
        self.int8 = int8
        self._dtype: torch.dtype = hf.dtype
        self._embedding = body.embed_tokens.weight
        self._layers = [_Layer(layer, config, pack) for layer in body.layers]
        self._heads, self._kv_heads, self._dim = self._layers[0].shape
        self._norm = _Norm(body.norm.weight, config.rms_norm_eps)
        self._head = pack([hf.lm_head])
        self._rotations = _Rotations(body.rotary_emb, self._heads, self._kv_heads, self._dim)
        self.takes_temperature = hf.lm_head.bias is None  # a bias would have to be divided, too

    def at_temperature(self, temperature: float) -> FastLlama:
        """This forward with logits divided by `temperature`, at no cost: the weights of the final
        norm are divided."""
        other = copy(self)
        other._norm = self._norm.divided(temperature)
        return other

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
        rows = len(x)
        rotation = self._rotations(positions[0], end)
        cached = kv_cache.joint(self._kv_heads, self._dim, x)
        new = cached.narrow(4, end - rows, rows).unbind()
        seen = cached.narrow(4, 0, end)
        for layer, into, keys, values in zip(
            self._layers, new, seen[:, 0].unbind(), seen[:, 1].unbind(), strict=True
        ):
            layer(x, rotation, mask, into, keys, values)
        return self._head(self._norm(x[-1:] if last_only else x).to(self._dtype))


class _Rotations:
    """The rotation of the heads at each position, in a table that grows with the highest position
    so far. All runs share it."""

    def __init__(self, rotary: Any, heads: int, kv_heads: int, dim: int) -> None:
        self._rotary = rotary
        self._rotated = heads + kv_heads
        self._fixed = kv_heads
        self._half = dim // 2
        self._table = self._made(_POSITIONS)

    def __call__(self, positions: torch.Tensor, reach: int) -> torch.Tensor:
        """(rows, heads + 2 * kv_heads, head_dim / 2) complex64 for `positions` (rows,),
        all below `reach`."""
        table = self._table
        if reach > len(table):
            # several threads may do this at once: each uses its own table, and the last one stays
            self._table = table = self._made(max(reach, 2 * len(table)))
        return table[positions]

    def _made(self, positions: int) -> torch.Tensor:
        """The table for the first `positions`, from the model's own module. Values are not rotated:
        their factor is 1."""
        # (1, positions, head_dim), both halves alike
        cos, sin = self._rotary(torch.zeros(1, 1), torch.arange(positions)[None])
        rotated = torch.complex(
            cos[0, :, None, : self._half].float(), sin[0, :, None, : self._half].float()
        )
        fixed = rotated.new_ones(positions, self._fixed, self._half)
        return torch.cat((rotated.expand(-1, self._rotated, -1), fixed), 1)


class _Layer:
    """One decoder layer over (rows, hidden) float32, which it changes in place.

    In queries and keys the two numbers that a rotary position rotates together are adjacent, not
    half a head apart: the rows of their weights are reordered, which changes no product of a query
    with a key.
    """

    def __init__(self, layer: Any, config: Any, pack: Callable[..., Linear]) -> None:
        attention = layer.self_attn
        mlp = layer.mlp
        self._dtype = attention.q_proj.weight.dtype
        eps = config.rms_norm_eps
        self._dim = attention.head_dim
        self._heads = attention.q_proj.out_features // self._dim
        self._kv_heads = attention.k_proj.out_features // self._dim
        self._scale = attention.scaling
        # 0, half a head, 1, half a head and 1, ...
        pairs = torch.arange(self._dim).view(2, -1).T.flatten()
        self._qkv = pack(
            [attention.q_proj, attention.k_proj, attention.v_proj], self._paired(pairs)
        )
        self._out = pack([attention.o_proj])
        self._gate_up = pack([mlp.gate_proj, mlp.up_proj])
        self._down = pack([mlp.down_proj])
        self._before = _Norm(layer.input_layernorm.weight, eps)
        self._after = _Norm(layer.post_attention_layernorm.weight, eps)
        self._head_norm = (
            _Norm(self._head_norms(attention)[:, pairs], eps)
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
        """Adds to x (rows, hidden). into: the cache slots of the new keys and values,
        (2, 1, kv_heads, rows, head_dim); keys, values: all slots so far."""
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
        """heads: (rows, heads + 2 * kv_heads, head_dim) float32 -> (rows, heads * head_dim)."""
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
        """`heads` with the norms of queries and keys where the model has them."""
        if self._head_norm is None:
            return heads
        rotated = self._heads + self._kv_heads
        return torch.cat((self._head_norm(heads[:, :rotated]), heads[:, rotated:]), 1)

    def _paired(self, pairs: torch.Tensor) -> torch.Tensor:
        """The order of the weights' rows for queries, keys and values."""
        order = torch.arange((self._heads + 2 * self._kv_heads) * self._dim).view(-1, self._dim)
        rotated = self._heads + self._kv_heads
        order[:rotated] = order[:rotated, pairs]
        return order.flatten()

    @property
    def shape(self) -> tuple[int, int, int]:
        """heads, kv_heads, head_dim."""
        return self._heads, self._kv_heads, self._dim

    def _head_norms(self, attention: Any) -> torch.Tensor:
        """(heads + kv_heads, head_dim) weights of the norms that Qwen3 puts on queries and keys."""
        query = attention.q_norm.weight.expand(self._heads, -1)
        key = attention.k_norm.weight.expand(self._kv_heads, -1)
        return torch.cat((query, key))


class _Norm:
    """x * weight / sqrt(mean(x * x) + eps) over the last dimension, in float32: four operations,
    where torch takes ten on a CPU and, for a few rows, twice as long."""

    def __init__(self, weight: torch.Tensor, eps: float) -> None:
        size = weight.shape[-1]
        self._weight = weight.float() * size**0.5
        self._least = torch.tensor((size * eps) ** 0.5)

    def divided(self, by: float) -> _Norm:
        """This norm with its output divided `by`."""
        other = copy(self)
        other._weight = self._weight / by
        return other

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self._weight).div_(
            torch.hypot(torch.linalg.vector_norm(x, dim=-1, keepdim=True), self._least)
        )


def _rotate(heads: torch.Tensor, rotation: torch.Tensor) -> torch.Tensor:
    """Rotary positions on (rows, heads, head_dim), in which pairs are adjacent."""
    pairs = torch.view_as_complex(heads.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * rotation).flatten(-2)


def packed(modules: Sequence[torch.nn.Linear], order: torch.Tensor | None = None) -> Linear:
    """One product for linear layers with the same input: (rows, in) -> (rows, sum of outs), with
    weights in oneDNN's layout. order: of the outputs."""
    return _product(*_joint(modules, order))


def _joint(
    modules: Sequence[torch.nn.Linear], order: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Weight (sum of outs, in) and bias of all `modules` as one layer."""
    weight = torch.cat([module.weight for module in modules])
    bias = torch.cat([module.bias for module in modules]) if modules[0].bias is not None else None
    if order is None:
        return weight, bias
    return weight[order], None if bias is None else bias[order]


def _product(weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
    try:
        reordered = torch.ops.mkldnn._reorder_linear_weight(weight, 8)
        multiply = torch.ops.mkldnn._linear_pointwise
        multiply(weight.new_zeros(1, weight.shape[1]), reordered, bias, "none", [], "")
    except (RuntimeError, NotImplementedError, AttributeError):  # a build of torch without oneDNN
        return lambda x: F.linear(x, weight, bias)
    return lambda x: multiply(x, reordered, bias, "none", [], "")


def packed_int8(modules: Sequence[torch.nn.Linear], order: torch.Tensor | None = None) -> Linear:
    """`packed` with weights rounded to int8, one scale for each output, for up to INT8_ROWS rows.
    More rows are multiplied with unrounded weights, in a type the processor supports: on a CPU
    without bfloat16 it takes four times as long as float32.

    The AVX-512 kernel of torch 2.13 reads past the end of rows whose length is not a multiple of
    16: it returns garbage, or kills the process. Any number of rows and of outputs is safe.
    """
    exact, bias = _joint(modules, order)
    weight = exact.float()
    dtype = narrowest_dtype(exact.device)
    wide = _product(exact.to(dtype), None if bias is None else bias.to(dtype))
    scales = weight.abs().amax(1).clamp(min=1e-12) / 127  # (out,)
    rounded = (weight / scales[:, None]).round().to(torch.int8)
    scales = scales.to(exact.dtype)
    padding = (0, -weight.shape[1] % INT8_STEP)
    rounded = F.pad(rounded, padding)

    def multiply(x: torch.Tensor) -> torch.Tensor:
        if len(x) > INT8_ROWS:
            return wide(x.to(dtype))
        x = F.pad(x, padding) if padding[1] else x
        product = torch._weight_int8pack_mm(x, rounded, scales)
        return product if bias is None else product + bias

    return multiply
