"""The forward of Llama-like models on one GPU with few kernels: launching them takes half of the
time of a pass of `transformers` over a few rows, even in a CUDA graph. One product computes
queries, keys and values, one gate and up, and three kernels do what is between the products and
the attention (see kernels.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from sequoia.models.cache_and_mask import KVCache, aligned
from sequoia.models.fused.kernels import add_norm, rotate, silu_times
from sequoia.models.tree_forward import without_cudnn_attention
from sequoia.this_machine.step_timer import as_current_device


@dataclass(frozen=True)
class _Pass:
    """What all layers of a pass share. rotation: see `rotate`. slots: (rows,), those to write.
    end: the number of slots that are attended to. mask: for the query heads of a key head, one
    below the other, (1, 1, query heads per key head * rows, end)."""

    rotation: tuple[torch.Tensor, torch.Tensor]
    slots: torch.Tensor
    end: int
    mask: torch.Tensor
    kv_cache: KVCache


class FusedLlama:
    """A Forward like any other. The weights are merged in place: those of `hf` become parts of the
    merged ones, so `hf` still computes the same and needs no more memory than before. A pass uses
    as many layers as `hf` has at the time.

    The residual stream is float32, because the logits are then nearer to those in float32: on the
    bundled target in bfloat16, their median distance is 0.69 times that of `transformers`; with a
    residual stream in bfloat16, 0.90 times (measured with these operations in torch).
    """

    name = "this program's fused kernels"

    def __init__(self, hf: Any) -> None:
        self._hf = hf
        attention = hf.model.layers[0].self_attn
        self._dim: int = attention.head_dim
        self._groups: int = attention.q_proj.out_features // attention.k_proj.out_features
        self._layers = [_Layer(i, one) for i, one in enumerate(hf.model.layers)]
        self._norm = _Norm(hf.model.norm)

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
        body = self._hf.model
        delta = body.embed_tokens(ids[0])  # (rows, hidden)
        dtype = delta.dtype
        x = torch.zeros_like(delta, dtype=torch.float32)
        cos, sin = body.rotary_emb(x, positions)
        rotation = cos.view(-1, self._dim), sin.view(-1, self._dim)
        slots = kv_cache.slots(ids.device)
        shared = _Pass(rotation, slots, mask.shape[3], aligned(mask, self._groups), kv_cache)
        with as_current_device(ids.device), without_cudnn_attention():
            for layer in self._layers[: len(body.layers)]:
                delta = layer(x, delta, dtype, shared)
            if last_only:
                x, delta = x[-1:], delta[-1:]
            return self._hf.lm_head(self._norm(x, delta, dtype))


class _Layer:
    """One decoder layer, number `index` of its model."""

    def __init__(self, index: int, layer: Any) -> None:
        attention = layer.self_attn
        mlp = layer.mlp
        self._index = index
        self._dim: int = attention.head_dim
        self._kv_heads: int = attention.k_proj.out_features // self._dim
        self._scale: float = attention.scaling
        self._qkv = _merged([attention.q_proj, attention.k_proj, attention.v_proj])
        self._gate_up = _merged([mlp.gate_proj, mlp.up_proj])
        # each layer's old weights are freed for the merged ones of the next layer
        torch.cuda.empty_cache()
        self._out = attention.o_proj
        self._down = mlp.down_proj
        self._before = _Norm(layer.input_layernorm)
        self._after = _Norm(layer.post_attention_layernorm)
        self._head_norms = None
        self._head_eps = 0.0
        if hasattr(attention, "q_norm"):
            norms = attention.q_norm.weight, attention.k_norm.weight
            self._head_norms = torch.stack(norms).float()
            self._head_eps = attention.q_norm.variance_epsilon

    def __call__(
        self, x: torch.Tensor, delta: torch.Tensor, dtype: torch.dtype, shared: _Pass
    ) -> torch.Tensor:
        """Add `delta` and the attention's output to x (rows, hidden), float32. Returns the output
        of the feed-forward part, which is still to be added. dtype: of the products."""
        heads = F.linear(self._before(x, delta, dtype), *self._qkv)
        delta = self._out(self._attend(heads.view(len(x), -1, self._dim), shared))
        gate_up = F.linear(self._after(x, delta, dtype), *self._gate_up)
        product = gate_up.new_empty(len(x), gate_up.shape[1] // 2)
        silu_times(gate_up, product)
        return self._down(product)

    def _attend(self, heads: torch.Tensor, shared: _Pass) -> torch.Tensor:
        """The attention's output (rows, heads * head_dim). heads: see `rotate`."""
        rows = len(heads)
        like = heads[None, :, : self._kv_heads].transpose(1, 2)
        layer = shared.kv_cache.allocated(self._index, like, like)
        queries = heads.new_empty(heads.shape[1] - 2 * self._kv_heads, rows, self._dim)
        rotate(
            heads,
            shared.rotation,
            self._head_norms,
            self._head_eps,
            shared.slots,
            queries,
            layer.keys,
            layer.values,
        )
        # the query heads of a key head are rows of one attention (see grouped_attention.py)
        seen = F.scaled_dot_product_attention(
            queries.view(1, self._kv_heads, -1, self._dim),
            layer.keys[:, :, : shared.end],
            layer.values[:, :, : shared.end],
            attn_mask=shared.mask,
            scale=self._scale,
        )
        return seen.reshape(-1, rows, self._dim).transpose(0, 1).reshape(rows, -1)


class _Norm:
    """A norm of `transformers`. Its weight is kept in float32: in the self-test, `Precision`
    converts narrower tensors, and a kernel would get the address of a copy that is freed again."""

    def __init__(self, norm: Any) -> None:
        self._weight = norm.weight.float()
        self._eps: float = norm.variance_epsilon

    def __call__(self, x: torch.Tensor, delta: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Add `delta` to x (rows, hidden), float32. Returns the norm of the sum, in `dtype`."""
        out = torch.empty_like(x, dtype=dtype)
        add_norm(x, delta, self._weight, self._eps, out)
        return out


def _merged(modules: Sequence[torch.nn.Linear]) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Weight and bias of one layer that replaces `modules`, whose own become parts of these."""
    weight = _whole([module.weight for module in modules])
    biases = [module.bias for module in modules if module.bias is not None]
    return weight, _whole(biases) if biases else None


def _whole(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    whole = torch.cat([part.data for part in parts])
    for part, view in zip(parts, whole.split([len(part) for part in parts]), strict=True):
        part.data = view
    return whole
