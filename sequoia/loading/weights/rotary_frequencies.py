"""Compares the rotary position embeddings of a loaded model with what its config gives.

`transformers` keeps their frequencies in float32 whatever the weights are. Rounded to bfloat16
(8 bits) they rotate heads by the wrong angle: 0.44 rad at distance 1,000 for the usual base. No
comparison of a model with itself detects that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from sequoia.errors import BadModel

_ROUNDING = 1e-6  # relative: a device may compute the last bit of a power differently


def check_frequencies(hf: nn.Module, title: str) -> None:
    """Raises BadModel unless every rotary buffer of `hf` is float32 and equals that of a fresh
    module: one of the same class, made on the CPU from the same config."""
    for name, module in rotary_modules(hf):
        fresh = frequencies(type(module)(module.config))
        for key, loaded in frequencies(module).items():
            if not _same(loaded, fresh[key]):
                raise BadModel(
                    f"{title}: the rotary frequencies {name}.{key} are {_words(loaded)}, "
                    "not the float32 numbers that its config gives"
                )


def rotary_modules(hf: nn.Module) -> Iterator[tuple[str, Any]]:
    """Name and module of every part of `hf` that has rotary frequencies."""
    for name, module in hf.named_modules():
        if frequencies(module):
            yield name, module


def frequencies(module: nn.Module) -> dict[str, torch.Tensor]:
    """The rotary frequencies of `module` itself, by name, each (rotated dimensions / 2,)."""
    return {
        name: buffer
        for name, buffer in module.named_buffers(recurse=False)
        if name.endswith("inv_freq")
    }


def _same(loaded: torch.Tensor, fresh: torch.Tensor) -> bool:
    if loaded.dtype != torch.float32 or loaded.shape != fresh.shape:
        return False
    return torch.allclose(loaded.cpu(), fresh, rtol=_ROUNDING, atol=0)


def _words(loaded: torch.Tensor) -> str:
    name = str(loaded.dtype).removeprefix("torch.")
    return f"of type {name}" if name != "float32" else "other numbers"
