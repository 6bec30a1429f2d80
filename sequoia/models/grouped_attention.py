"""Grouped-query attention that does not copy keys and values for every query head.

With a mask and several rows (query positions), `transformers` repeats keys and values for every
query head. Here the query heads that share a key head become additional rows instead. Only the mask
is repeated. It is far smaller than keys and values.

The result must be that of `sdpa_attention_forward` in `transformers`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.nn import functional as F
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from sequoia.models.cache_and_mask import aligned
from sequoia.models.cuda_graphs import Forward
from sequoia.models.tree_forward import transformers_forward

_NAME = "sequoia_grouped"
_USUAL = "sdpa"


def grouped_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """query: (1, heads, rows, head_dim); key, value: (1, kv_heads, columns, head_dim);
    attention_mask: (1, 1, rows, columns). Returns (1, rows, heads, head_dim) and None. Calls
    for which `transformers` makes no copies either, and calls that this function does not support,
    are passed on to `transformers`."""
    heads, rows = query.shape[1:3]
    kv_heads = key.shape[1]
    if heads == kv_heads or rows == 1 or not _plain(attention_mask, others):
        return sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **others
        )
    assert attention_mask is not None  # checked by _plain
    found = F.scaled_dot_product_attention(
        # (1, kv_heads, query heads per key head * rows, head_dim)
        query.reshape(1, kv_heads, -1, query.shape[3]),
        key,
        value,
        attn_mask=aligned(attention_mask, heads // kv_heads),
        scale=scaling,
    )
    return found.reshape(1, heads, rows, -1).transpose(1, 2).contiguous(), None


def _plain(mask: torch.Tensor | None, others: dict[str, Any]) -> bool:
    """Whether a pass has one mask for all heads, no dropout, and none of the extra inputs of some
    model families."""
    special = ("softcap", "position_bias", "cache", "s_aux")
    return (
        mask is not None
        and tuple(mask.shape[:2]) == (1, 1)
        and not others.get("dropout")
        and all(others.get(name) is None for name in special)
    )


def has_groups(config: Any) -> bool:
    """Whether a model has several query heads for each key head, and uses the attention
    implementation that `grouped_attention` replaces. config: the config of the model's text part.
    """
    heads = getattr(config, "num_attention_heads", 0)
    kv_heads = getattr(config, "num_key_value_heads", None) or heads
    return kv_heads < heads and config._attn_implementation == _USUAL


def grouped_forward(hf: Any) -> Forward | None:
    """The forward of `transformers` with `grouped_attention`; None if `hf` would not gain by it."""
    return partial(_forward, hf) if has_groups(hf.config.get_text_config()) else None


def _forward(hf: Any, *given: Any) -> torch.Tensor:
    config = hf.config.get_text_config()
    config._attn_implementation = _NAME
    try:
        return transformers_forward(hf, *given)
    finally:
        config._attn_implementation = _USUAL


AttentionInterface.register(_NAME, grouped_attention)
AttentionMaskInterface.register(_NAME, sdpa_mask)
