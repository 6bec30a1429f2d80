"""Memory that a run needs besides the model's weights: KV cache, mask and logits, computed from the
model's config alone."""

from __future__ import annotations

from typing import Any

import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.models.layer_configs import layer_configs

# The run that must still fit when a large model is split across devices.
USUAL_TOKENS = 2048
USUAL_NODES = 1024
# nodes whose distributions are made together on a GPU: enough to keep it busy
CHUNK_ROWS = 64
DEMANDING = SamplingParams(temperature=0.6, top_p=0.9)  # what takes the most memory


def cache_bytes(config: Any, capacity: int, element_bytes: int) -> int:
    """Bytes of one layer's KV cache with `capacity` slots and elements of `element_bytes` bytes; if
    layers differ, of the largest."""
    return 2 * max(map(_row, layer_configs(config))) * capacity * element_bytes


def _row(layer: Any) -> int:
    """Elements in one token's keys, over all heads of a layer."""
    shared = 1 if getattr(layer, "multi_query", False) else None
    heads = getattr(layer, "num_key_value_heads", None) or shared or layer.num_attention_heads
    return heads * (
        getattr(layer, "head_dim", None) or layer.hidden_size // layer.num_attention_heads
    )


def mask_and_logit_bytes(capacity: int, nodes: int, vocab: int, element_bytes: int) -> int:
    """Bytes of the mask of `nodes` nodes after a prefix of `capacity`, and of their float32
    logits."""
    return element_bytes * nodes * (capacity + nodes) + 4 * nodes * vocab


def distribution_bytes(nodes: int, vocab: int, params: SamplingParams = DEMANDING) -> int:
    """Bytes that a step on a GPU takes for the distributions of a tree: p (float64) and q (float32)
    of all nodes, and the results in between of CHUNK_ROWS nodes at a time."""
    return nodes * vocab * (8 + 4) + min(nodes, CHUNK_ROWS) * vocab * _bytes_in_between(params)


def usual_distribution_bytes(device: torch.device, nodes: int, vocab: int) -> int:
    """Bytes on `device` for the distributions of a step with `nodes` nodes: none on a CPU, where
    they are made one by one."""
    return distribution_bytes(nodes, vocab) if device.type == "cuda" else 0


def _bytes_in_between(params: SamplingParams) -> int:
    """Bytes for each token of a row while p or q of the row is made, or children are drawn from it.
    Measured but for the sort on a GPU, which takes up to 32 of its own."""
    if params.temperature > 0 and params.top_p < 1:
        return 48 + 32
    return 28  # drawing children takes the most


def usual_capacity(config: Any) -> int:
    """Cache slots of the usual run, which is planned for before anything is loaded."""
    return (
        min(getattr(config, "max_position_embeddings", 0) or USUAL_TOKENS, USUAL_TOKENS)
        + USUAL_NODES
    )


def usual_run_bytes(config: Any, element_bytes: int) -> tuple[int, int]:
    """Bytes of the usual run: of one layer's KV cache, and of mask and logits."""
    capacity = usual_capacity(config)
    beside = mask_and_logit_bytes(capacity, USUAL_NODES, config.vocab_size, element_bytes)
    return cache_bytes(config, capacity, element_bytes), beside
