"""The decoder layers of a causal LM of any family, their configs, and the longest text that the
model is used for, which is read from the config alone.

Some models compute differently once a text is longer than a number in their config. The worst case
is LongRoPE (Phi-3 with 128k tokens of context). Once a pass goes beyond the original context, all
its tokens get other rotary frequencies, but those in the KV cache keep the old ones. A tree across
that limit would change the output, so such a model is used only up to the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from sequoia.errors import BadModel


def layer_configs(config: Any) -> tuple[Any, ...]:
    """The config of each layer; if all layers have the same config, only `config`. config: the
    config of the model's text part."""
    if getattr(config, "is_heterogeneous", False):
        return tuple(config.per_layer_config)
    return (config,)


_FEW = 2**28  # parameters of all layers that are not too many for `only_first_layers`
_FIRST = 2


def layer_list(hf: Any) -> tuple[str, nn.ModuleList] | None:
    """Name and module of a causal LM's list of decoder layers, or None if the layers are not in a
    single list."""
    count = hf.config.get_text_config().num_hidden_layers
    for name, module in hf.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return name, module
    return None


@contextmanager
def only_first_layers(hf: Any) -> Iterator[int]:
    """A context in which a large model has only its first layers: at least two, and one of every
    type. For checks that would take too long otherwise. Yields the number of layers left out, which
    is 0 for a small model."""
    found = layer_list(hf)
    if found is None or sum(one.numel() for one in found[1].parameters()) <= _FEW:
        yield 0
        return
    name, layers = found
    kinds = list(getattr(hf.config.get_text_config(), "layer_types", None) or ())
    count = max([_FIRST, *(kinds.index(kind) + 1 for kind in kinds)])
    parent, _, last = name.rpartition(".")
    setattr(hf.get_submodule(parent), last, layers[:count])
    try:
        yield len(layers) - count
    finally:
        setattr(hf.get_submodule(parent), last, layers)


def decoder_layers(hf: Any) -> tuple[tuple[str, ...], tuple[nn.Module, ...]]:
    """Names and modules of the decoder layers of a causal LM, in order. Raises BadModel if they
    are not in a single list."""
    found = layer_list(hf)
    if found is None:
        count = hf.config.get_text_config().num_hidden_layers
        raise BadModel(
            f"{type(hf).__name__} does not have its {count} layers in one list, so it cannot be "
            "spread or offloaded"
        )
    name, modules = found
    return tuple(f"{name}.{i}" for i in range(len(modules))), tuple(modules)


# -- the longest text ------------------------------------------------------------------------------


# assumed context in tokens, if the config states none; no config states exactly this
UNSTATED = 2**20 - 1


def context_length(config: Any) -> tuple[int, str]:
    """The longest text, in tokens, within the context that the config states (UNSTATED if it states
    none) for which the model gives the same logits whether it processes the text one token at a
    time, all at once, or as a tree; and why that is less than the config's context, "" if it is
    not. config: the config of the model's text part."""
    return min(map(_of_layer, layer_configs(config)))


def _of_layer(config: Any) -> tuple[int, str]:
    stated = _count(getattr(config, "max_position_embeddings", None)) or UNSTATED
    return min([(stated, ""), *_limits(config)])


def rope_parameters(config: Any) -> tuple[Mapping[str, Any], ...]:
    """The parameters of the model's rotary position embeddings: one set, or for some models one set
    for each kind of layer. Empty if the config has none."""
    found = getattr(config, "rope_parameters", None)
    if not isinstance(found, Mapping):
        return ()
    parts = tuple(part for part in found.values() if isinstance(part, Mapping))
    return parts or (found,)


def _limits(config: Any) -> Iterator[tuple[int, str]]:
    """The text lengths beyond which the model must not be used, with the reasons."""
    for rope in rope_parameters(config):
        original = _count(rope.get("original_max_position_embeddings"))
        if original and (rope.get("rope_type") == "longrope" or "long_mscale" in rope):
            reason = "in a longer text the rotary frequencies of all tokens change (LongRoPE, "
            yield original, f"{reason}original context {original})"
    if window := _count(getattr(config, "keep_window_size", None)):
        reason = "in a longer text each token attends to only some tokens"
        yield window, f"{reason} (keep_window_size {window})"


def _count(value: Any) -> int:
    """`value` if it is a positive int, otherwise 0."""
    return value if type(value) is int and value > 0 else 0
