"""Memory that a run needs in addition to the model's weights: KV cache, mask, logits and
distributions. It is computed without running the model."""

from __future__ import annotations

from typing import Any

import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.models.layers import layer_configs

# Bytes of weights of the largest model that has a faster forward on a CPU. Its packed copies take
# up to as many bytes again.
PACKED_UP_TO = 2**30
# The run that must still fit when a large model is split across devices.
USUAL_RUN_TOKENS = 2048
USUAL_RUN_NODES = 1024
# nodes whose distributions are computed together on a GPU: enough to keep it busy
CHUNK_ROWS = 64
# top-p sampling needs the most memory
DEMANDING = SamplingParams(temperature=0.6, top_p=0.9)


def cache_bytes(config: Any, capacity: int, element_bytes: int) -> int:
    """Bytes of one layer's KV cache with `capacity` slots and elements of `element_bytes` bytes. If
    the layers differ, the bytes of the largest."""
    return 2 * max(map(_row, layer_configs(config))) * capacity * element_bytes


def _row(layer: Any) -> int:
    """Number of elements in the keys of one token in one layer, over all heads."""
    shared = 1 if getattr(layer, "multi_query", False) else None
    heads = getattr(layer, "num_key_value_heads", None) or shared or layer.num_attention_heads
    return heads * (
        getattr(layer, "head_dim", None) or layer.hidden_size // layer.num_attention_heads
    )


def mask_and_logit_bytes(capacity: int, nodes: int, vocab: int, element_bytes: int) -> int:
    """Bytes of the mask of `nodes` nodes after a prefix of `capacity` slots, plus the bytes of the
    nodes' float32 logits."""
    return element_bytes * nodes * (capacity + nodes) + 4 * nodes * vocab


def distribution_bytes(nodes: int, vocab: int, params: SamplingParams = DEMANDING) -> int:
    """Bytes that a step on a GPU needs at most for the distributions of a tree: the target's p
    (float64) and the draft's q (float32) of all nodes, and intermediate results for up to
    CHUNK_ROWS nodes."""
    return nodes * vocab * (8 + 4) + min(nodes, CHUNK_ROWS) * vocab * _bytes_in_between(params)


def usual_distribution_bytes(device: torch.device, nodes: int, vocab: int) -> int:
    """Bytes on `device` for the distributions of a step with `nodes` nodes. 0 on a CPU, where they
    are not counted."""
    return distribution_bytes(nodes, vocab) if device.type == "cuda" else 0


def _bytes_in_between(params: SamplingParams) -> int:
    """Bytes of intermediate results per node and vocabulary entry, while p or q is computed or
    children are drawn. The 48 and the 28 were measured. The 32, for sorting on a GPU, is an upper
    bound."""
    if params.temperature > 0 and params.top_p < 1:
        return 48 + 32
    return 28  # for drawing children; computing p or q needs less


def usual_capacity(config: Any) -> int:
    """Cache slots of a typical run."""
    return (
        min(getattr(config, "max_position_embeddings", 0) or USUAL_RUN_TOKENS, USUAL_RUN_TOKENS)
        + USUAL_RUN_NODES
    )


def usual_run_bytes(config: Any, element_bytes: int) -> tuple[int, int]:
    """Bytes that a typical run needs: (KV cache of one layer, mask and logits)."""
    capacity = usual_capacity(config)
    beside = mask_and_logit_bytes(capacity, USUAL_RUN_NODES, config.vocab_size, element_bytes)
    return cache_bytes(config, capacity, element_bytes), beside
