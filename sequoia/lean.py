"""A lean forward for Llama-like models: the arithmetic of `transformers`' own, with a fraction of its small operations.

Small models on a CPU spend most of a pass outside their matrix products. Here one product makes queries, keys and values,
another gate and up, weights are laid out once the way oneDNN likes them, and nothing is looked up twice. The `transformers`
forward stays the reference: models.py holds the two against each other at load and uses this one only where they agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional as F

from .slots import Slots

Linear = Callable[[torch.Tensor], torch.Tensor]

FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
_PACKED_UP_TO = 2**30  # bytes of weights; the packed copy comes on top of them


def lean_forward(hf: Any) -> LeanLlama | None:
    """The lean forward of `hf`, or None where it has none: another family, activation or position scheme, or too large."""
    config = hf.config
    family = (config.model_type in FAMILIES and getattr(config, "hidden_act", "") == "silu"
              and getattr(config, "rope_parameters", {}).get("rope_type") == "default")
    place = (hf.device.type == "cpu" and hf.dtype in (torch.float32, torch.bfloat16)
             and sum(p.numel() * p.element_size() for p in hf.parameters()) <= _PACKED_UP_TO)
    return LeanLlama(hf) if family and place else None


class LeanLlama:
    """`forward(ids, positions, mask, slots, last_only)` as models.py asks for it. Batch 1; keys and values go to the slots."""

    def __init__(self, hf: Any) -> None:
        config, body = hf.config, hf.model
        self._dtype: torch.dtype = hf.dtype
        self._embedding = body.embed_tokens.weight
        self._layers = [_Layer(layer, config) for layer in body.layers]
        self._norm = body.norm.weight.float()
        self._eps = config.rms_norm_eps
        self._head = packed([hf.lm_head])
        self._rotary = body.rotary_emb
        self._cos, self._sin = _rotations(self._rotary, 0)

    def __call__(self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, slots: Slots, last_only: bool
                 ) -> torch.Tensor:
        """Logits (rows, vocab), or (1, vocab) with `last_only`. ids, positions: (1, rows); mask: (1, 1, rows, columns)."""
        x = F.embedding(ids[0], self._embedding).float()  # (rows, hidden); the residual stream stays float32
        rotation = self._rotation(positions[0], slots.length + slots.written)
        for index, layer in enumerate(self._layers):
            x = layer(x, rotation, mask, slots, index)
        return self._head(_rms_norm(x[-1:] if last_only else x, self._norm, self._eps).to(self._dtype))

    def _rotation(self, positions: torch.Tensor, reach: int) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and signed sin of `positions`, (rows, 1, head_dim) each, from a table that grows to `reach` positions."""
        if reach > len(self._cos):
            self._cos, self._sin = _rotations(self._rotary, max(reach, 2 * len(self._cos), 1024))
        return self._cos[positions], self._sin[positions]


class _Layer:
    """One decoder layer over (rows, hidden) float32."""

    def __init__(self, layer: Any, config: Any) -> None:
        attention, mlp = layer.self_attn, layer.mlp
        self._dtype, self._eps = attention.q_proj.weight.dtype, config.rms_norm_eps
        self._dim = attention.head_dim
        self._heads = attention.q_proj.out_features // self._dim
        self._kv_heads = attention.k_proj.out_features // self._dim
        self._scale = attention.scaling
        self._qkv = packed([attention.q_proj, attention.k_proj, attention.v_proj])
        self._out = packed([attention.o_proj])
        self._gate_up, self._down = packed([mlp.gate_proj, mlp.up_proj]), packed([mlp.down_proj])
        self._before, self._after = layer.input_layernorm.weight.float(), layer.post_attention_layernorm.weight.float()
        self._head_norm = self._head_norms(attention) if hasattr(attention, "q_norm") else None

    def __call__(self, x: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor, slots: Slots,
                 index: int) -> torch.Tensor:
        heads = self._qkv(_rms_norm(x, self._before, self._eps).to(self._dtype)).view(len(x), -1, self._dim)
        x = x + self._out(self._attend(heads, rotation, mask, slots, index))
        gate, up = self._gate_up(_rms_norm(x, self._after, self._eps).to(self._dtype)).chunk(2, dim=-1)
        return x + self._down(F.silu(gate) * up)

    def _attend(self, heads: torch.Tensor, rotation: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor, slots: Slots,
                index: int) -> torch.Tensor:
        """heads: (rows, heads + 2 * kv_heads, head_dim) -> (rows, heads * head_dim)."""
        turned, values = heads.split((self._heads + self._kv_heads, self._kv_heads), dim=1)
        if self._head_norm is not None:
            turned = _rms_norm(turned.float(), self._head_norm, self._eps).to(self._dtype)
        turned = _rotate(turned, *rotation).to(self._dtype).transpose(0, 1)[None]  # (1, heads + kv_heads, rows, head_dim)
        keys, values = slots.rows[index].update(turned[:, self._heads:], values.transpose(0, 1)[None])
        seen = F.scaled_dot_product_attention(turned[:, :self._heads], keys, values, attn_mask=mask, scale=self._scale,
                                              enable_gqa=self._heads != self._kv_heads)
        return seen[0].transpose(0, 1).reshape(len(heads), -1)

    def _head_norms(self, attention: Any) -> torch.Tensor:
        """(heads + kv_heads, head_dim) weights of the norms that Qwen3 puts on queries and keys."""
        return torch.cat((attention.q_norm.weight.float().expand(self._heads, -1),
                          attention.k_norm.weight.float().expand(self._kv_heads, -1)))


def _rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def _rotate(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary positions on (rows, heads, head_dim); `sin` carries the sign of its half, so swapping the halves is enough."""
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, -1), sin)


def _rotations(rotary: Any, positions: int) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and signed sin, (positions, 1, head_dim) float32 each, from the model's own module."""
    where = torch.arange(positions)[None]
    cos, sin = rotary(torch.zeros(1, 1), where)  # (1, positions, head_dim)
    half = sin.shape[-1] // 2
    return cos[0, :, None].float(), torch.cat((-sin[0, :, None, :half], sin[0, :, None, half:]), -1).float()


def packed(modules: Sequence[torch.nn.Linear]) -> Linear:
    """One product for linear layers that read the same rows: (rows, in) -> (rows, sum of outs), weights laid out for oneDNN."""
    weight = torch.cat([module.weight for module in modules])
    bias = torch.cat([module.bias for module in modules]) if modules[0].bias is not None else None
    try:
        laid_out = torch.ops.mkldnn._reorder_linear_weight(weight, 8)
        multiply = torch.ops.mkldnn._linear_pointwise
        multiply(weight.new_zeros(1, weight.shape[1]), laid_out, bias, "none", [], "")
    except (RuntimeError, NotImplementedError, AttributeError):  # a build of torch without oneDNN
        return lambda x: F.linear(x, weight, bias)
    return lambda x: multiply(x, laid_out, bias, "none", [], "")
