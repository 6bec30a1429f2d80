"""What a run keeps allocated on a model beside its weights: KV cache, mask and logits, from the
model's config alone."""

from __future__ import annotations

from typing import Any

from sequoia.models.layer_configs import layer_configs

# of the run that must still fit when a model too large for one device is divided
USUAL_TOKENS = 2048
USUAL_NODES = 1024


def cache_bytes(config: Any, capacity: int, number: int) -> int:
    """Bytes of one layer's keys and values in `capacity` cache slots, in numbers of `number` bytes;
    of the largest layer where they differ."""
    return 2 * max(map(_row, layer_configs(config))) * capacity * number


def _row(layer: Any) -> int:
    """Numbers of a key in all heads of a layer."""
    shared = 1 if getattr(layer, "multi_query", False) else None
    heads = getattr(layer, "num_key_value_heads", None) or shared or layer.num_attention_heads
    return heads * (
        getattr(layer, "head_dim", None) or layer.hidden_size // layer.num_attention_heads
    )


def mask_and_logit_bytes(capacity: int, nodes: int, vocab: int, number: int) -> int:
    """Bytes of the mask of `nodes` nodes after a prefix of `capacity`, and of their float32
    logits."""
    return number * nodes * (capacity + nodes) + 4 * nodes * vocab


def usual_capacity(config: Any) -> int:
    """Cache slots of the usual run, which is planned for before anything is loaded."""
    return (
        min(getattr(config, "max_position_embeddings", 0) or USUAL_TOKENS, USUAL_TOKENS)
        + USUAL_NODES
    )


def usual_run_bytes(config: Any, number: int) -> tuple[int, int]:
    """Bytes of the usual run: of one layer's KV cache, and of mask and logits."""
    capacity = usual_capacity(config)
    beside = mask_and_logit_bytes(capacity, USUAL_NODES, config.vocab_size, number)
    return cache_bytes(config, capacity, number), beside
