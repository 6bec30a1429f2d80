"""Compares the rotary frequencies of a loaded model with those that its config gives.

`transformers` keeps them in float32, whatever the dtype of the weights. If they were rounded to
bfloat16, queries and keys would be rotated by wrong angles: off by up to 0.44 rad at position 1,000
for 64 rotated dimensions and base 10,000. The self-test (models/self_test.py) cannot detect this,
because it compares a model with itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from sequoia.errors import BadModel

_ROUNDING = 1e-6  # relative tolerance: devices may round the last bit of a power differently


def check_frequencies(hf: nn.Module, title: str) -> None:
    """Raises BadModel unless all rotary frequencies of `hf` are float32 and have the right values.
    For the right values, each rotary module is built again on the CPU, from its config. Differences
    due to rounding are allowed."""
    for name, module in rotary_modules(hf):
        fresh = frequencies(type(module)(module.config))
        for key, loaded in frequencies(module).items():
            if not _same(loaded, fresh[key]):
                raise BadModel(
                    f"{title}: the rotary frequencies {name}.{key} {_words(loaded)}; they should "
                    "be the float32 numbers that its config gives"
                )


def rotary_modules(hf: nn.Module) -> Iterator[tuple[str, Any]]:
    """Name and module of every submodule of `hf` that has rotary frequencies."""
    for name, module in hf.named_modules():
        if frequencies(module):
            yield name, module


def frequencies(module: nn.Module) -> dict[str, torch.Tensor]:
    """The rotary frequencies of `module` itself, without its submodules, by buffer name. Each has
    the shape (rotated dimensions / 2,)."""
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
    return f"have dtype {name}" if name != "float32" else "have other values"
