"""Configs whose layers differ: `transformers` raises where such a field is read from the whole
config."""

from __future__ import annotations

from typing import Any


def layer_configs(config: Any) -> tuple[Any, ...]:
    """The config of every layer of the text model `config`, or just `config` where all layers have
    the same."""
    if getattr(config, "is_heterogeneous", False):
        return tuple(config.per_layer_config)
    return (config,)
