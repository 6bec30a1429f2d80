"""The decoder layers of a causal LM of any family, and their configs."""

from __future__ import annotations

from collections.abc import Iterator
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
