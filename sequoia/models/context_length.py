"""The longest text a model can hold, and the lengths at which its forward pass changes, from its
config alone.

Some models compute differently once a text is longer than a number in their config. LongRoPE (Phi-3
with 128 k tokens of context) is the worst of them: one token past the original context gives all
tokens of its pass other rotary frequencies, while tokens in the KV cache keep the old ones. A tree
across that limit would change the output, so such a model is used up to it only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sequoia.models.layer_configs import layer_configs

UNSTATED = 2**20  # tokens, where the config states no context

# Fields of a config that give a length beyond which something changes.
_LENGTHS = (
    "original_max_position_embeddings",
    "sliding_window",
    "attention_chunk_size",
    "keep_window_size",
    "index_topk",
    "floor_scale",
    "log_scaling_n_floor",
)


@dataclass(frozen=True)
class ContextLength:
    """Tokens of prompt and output together. reason: why they are fewer than the config's own
    context, "" where they are not."""

    tokens: int
    reason: str = ""


def context_length(config: Any) -> ContextLength:
    """The longest text for which a model of this (text) `config` gives the same logits one token at
    a time, all at once or as a tree."""
    return min(map(_of_layer, layer_configs(config)), key=lambda limit: limit.tokens)


def _of_layer(config: Any) -> ContextLength:
    stated = _count(getattr(config, "max_position_embeddings", None)) or UNSTATED
    shorter = [limit for limit in _limits(config) if limit.tokens < stated]
    return min(shorter, key=lambda limit: limit.tokens, default=ContextLength(stated))


def changes_at(config: Any, limit: int) -> tuple[int, ...]:
    """The lengths below `limit` that the config gives as those beyond which something changes, the
    shortest first. Not all of them change the logits of every model."""
    found = {_count(length) for layer in layer_configs(config) for length in _stated(layer)}
    return tuple(sorted(length for length in found if 0 < length < limit))


def _stated(config: Any) -> list[Any]:
    """The values of all lengths in the config of a layer, None for those it leaves open."""
    found = [getattr(config, name, None) for name in _LENGTHS]
    return [*found, *(_original_context(rope) for rope in rope_parameters(config))]


def _original_context(rope: Mapping[str, Any]) -> Any:
    return rope.get("original_max_position_embeddings")


def rope_parameters(config: Any) -> tuple[Mapping[str, Any], ...]:
    """The parameters of every kind of rotary position embedding in the model; some models have one
    for each kind of layer."""
    found = getattr(config, "rope_parameters", None)
    if not isinstance(found, Mapping):
        return ()
    parts = tuple(part for part in found.values() if isinstance(part, Mapping))
    return parts or (found,)


def _limits(config: Any) -> Iterator[ContextLength]:
    """The lengths that a tree must not cross."""
    for rope in rope_parameters(config):
        original = _count(_original_context(rope))
        if original and (rope.get("rope_type") == "longrope" or "long_mscale" in rope):
            yield ContextLength(
                original,
                "its rotary positions change for all tokens of a longer text (LongRoPE, original "
                f"context {original})",
            )
    if window := _count(getattr(config, "keep_window_size", None)):
        yield ContextLength(
            window,
            f"in a longer text each token sees only some tokens (keep_window_size {window})",
        )


def _count(value: Any) -> int:
    """`value` where it is a positive whole number, else 0."""
    return value if type(value) is int and value > 0 else 0
