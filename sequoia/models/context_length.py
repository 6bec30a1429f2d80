"""The longest text that a model is used for, and the text lengths beyond which its forward pass may
change. Both are read from its config alone.

Some models compute differently once a text is longer than a number in their config. The worst case
is LongRoPE (Phi-3 with 128k tokens of context). Once a pass goes beyond the original context, all
its tokens get other rotary frequencies, but those in the KV cache keep the old ones. A tree across
that limit would change the output, so such a model is used only up to the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sequoia.models.layers import layer_configs

# assumed context in tokens, if the config states none; no config states exactly this
UNSTATED = 2**20 - 1

# Config fields that hold a text length beyond which the computation may change.
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
    """tokens: the most tokens that prompt and output may have together. reason: why that is less
    than the config's context, "" if it is not."""

    tokens: int
    reason: str = ""


def context_length(config: Any) -> ContextLength:
    """The longest text within the context that the config states (UNSTATED if it states none) for
    which the model gives the same logits whether it processes the text one token at a time, all at
    once, or as a tree. config: the config of the model's text part."""
    return min(map(_of_layer, layer_configs(config)), key=lambda limit: limit.tokens)


def _of_layer(config: Any) -> ContextLength:
    stated = _count(getattr(config, "max_position_embeddings", None)) or UNSTATED
    shorter = [limit for limit in _limits(config) if limit.tokens < stated]
    return min(shorter, key=lambda limit: limit.tokens, default=ContextLength(stated))


def changes_at(config: Any, limit: int) -> tuple[int, ...]:
    """The text lengths beyond which the computation may change, in increasing order. Only lengths
    below `limit`. Some models compute the same beyond such a length."""
    found = {_count(length) for layer in layer_configs(config) for length in _stated(layer)}
    return tuple(sorted(length for length in found if 0 < length < limit))


def _stated(config: Any) -> list[Any]:
    """The text lengths in a layer's config beyond which the computation may change; None for a
    field that is not set."""
    found = [getattr(config, name, None) for name in _LENGTHS]
    return [*found, *(_original_context(rope) for rope in rope_parameters(config))]


def _original_context(rope: Mapping[str, Any]) -> Any:
    return rope.get("original_max_position_embeddings")


def rope_parameters(config: Any) -> tuple[Mapping[str, Any], ...]:
    """The parameters of the model's rotary position embeddings: one set, or for some models one set
    for each kind of layer. Empty if the config has none."""
    found = getattr(config, "rope_parameters", None)
    if not isinstance(found, Mapping):
        return ()
    parts = tuple(part for part in found.values() if isinstance(part, Mapping))
    return parts or (found,)


def _limits(config: Any) -> Iterator[ContextLength]:
    """The text lengths beyond which the model must not be used, with the reasons."""
    for rope in rope_parameters(config):
        original = _count(_original_context(rope))
        if original and (rope.get("rope_type") == "longrope" or "long_mscale" in rope):
            yield ContextLength(
                original,
                "in a longer text the rotary frequencies of all tokens change (LongRoPE, original "
                f"context {original})",
            )
    if window := _count(getattr(config, "keep_window_size", None)):
        yield ContextLength(
            window,
            f"in a longer text each token attends to only some tokens (keep_window_size {window})",
        )


def _count(value: Any) -> int:
    """`value` if it is a positive int, otherwise 0."""
    return value if type(value) is int and value > 0 else 0
