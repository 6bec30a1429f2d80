"""The configs of single layers, for models whose layers differ. `transformers` raises an error if a
field that differs between layers is read from the whole config."""

from __future__ import annotations

from typing import Any


def layer_configs(config: Any) -> tuple[Any, ...]:
    """The config of each layer; if all layers have the same config, only `config`. config: the
    config of the model's text part."""
    if getattr(config, "is_heterogeneous", False):
        return tuple(config.per_layer_config)
    return (config,)
