"""The parts into which a model too large for one device is divided, and their sizes.

The sizes are computed from the config alone: the modules are built on torch's `meta` device, so
nothing is loaded or allocated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.models.layers import layer_list


@dataclass(frozen=True)
class ModelParts:
    """Names of a causal LM's modules, in the model's order: those `ahead` of the decoder layers,
    the `layers`, and those `behind` them. A module that comes after the layers but has no weights
    of its own, such as a tied head, counts as `ahead`. sizes: module -> bytes. tied: the head
    shares the embedding's weights, so both must be on the same device."""

    ahead: tuple[str, ...]
    layers: tuple[str, ...]
    behind: tuple[str, ...]
    sizes: dict[str, int]
    tied: bool

    @property
    def total(self) -> int:
        """Bytes of all weights. Tied weights count once."""
        return sum(self.sizes.values())

    @property
    def around(self) -> int:
        """Bytes of all modules except the layers."""
        return sum(self.sizes[name] for name in self.ahead + self.behind)

    @property
    def largest(self) -> int:
        """Bytes of the largest layer."""
        return max(self.sizes[name] for name in self.layers)


def parts_of(config: Any, dtype: torch.dtype) -> ModelParts:
    """The parts of the model that `config` describes, with weights in `dtype`. Raises BadModel
    if its decoder layers are not in a single list."""
    with torch.device("meta"):
        hf = AutoModelForCausalLM.from_config(config, dtype=dtype)
    names, _ = decoder_layers(hf)
    pieces = dict(_pieces(hf, names[0].rpartition(".")[0]))
    seen = set[int]()
    sizes = {name: _bytes(module, seen) for name, module in pieces.items()}
    last = [*pieces].index(names[-1])
    tied = hf.get_output_embeddings().weight is hf.get_input_embeddings().weight
    behind = tuple(name for name in [*pieces][last + 1 :] if sizes[name])
    return ModelParts(
        tuple(name for name in pieces if name not in (*names, *behind)), names, behind, sizes, tied
    )


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


def _pieces(module: nn.Module, layers: str, name: str = "") -> Iterator[tuple[str, nn.Module]]:
    """Name and module of each indivisible part, in order: every layer in the list called `layers`,
    and the modules before and after it."""
    for child, inside in module.named_children():
        full = f"{name}.{child}" if name else child
        if f"{layers}.".startswith(f"{full}."):
            yield from _pieces(inside, layers, full)
        else:
            yield full, inside


def _bytes(module: nn.Module, seen: set[int]) -> int:
    """Bytes of the parameters whose id() is not in `seen`. Their ids are then added to `seen`."""
    new = {id(weight): weight for weight in module.parameters() if id(weight) not in seen}
    seen.update(new)
    return sum(weight.numel() * weight.element_size() for weight in new.values())
