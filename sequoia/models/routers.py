"""Detects whether a model has a router, which sends each token to a few of many experts.

A forward pass is observed, because configs name experts inconsistently, and some configs list
experts that no layer has.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from sequoia.models.compare_logits import own_logits
from sequoia.models.sample_text import SampleText
from sequoia.models.tree_forward import TreeModel

# integers that these return are converted numbers, not choices
_CONVERSIONS = ("aten::_to_copy", "aten::to", "aten::copy_")


def has_router(model: TreeModel) -> bool:
    """Whether `model` selects experts, or anything else, by comparing activations. Then a rounding
    error can change what is selected, which can change the output a lot. Runs one pass over three
    tokens."""
    with _Choices() as choices:
        own_logits(model, SampleText((), model.vocab).piece(3, 0))
    return choices.made


class _Choices(TorchDispatchMode):
    """Watches for integers that are computed from floating-point numbers and then used, such as the
    indices from `topk`, `argmax` or `sort`. made: whether there were any."""

    def __init__(self) -> None:
        super().__init__()
        self.made = False
        # kept alive, because tensors are recognised by identity
        self._picked: list[torch.Tensor] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = _tensors((args, kwargs))
        self.made |= any(one is other for one in given for other in self._picked)
        result = func(*args, **(kwargs or {}))
        if func._schema.name not in _CONVERSIONS and any(map(torch.is_floating_point, given)):
            self._picked += [one for one in _tensors(result) if one.dtype == torch.long]
        return result


def _tensors(values: Any) -> list[torch.Tensor]:
    return [one for one in tree_leaves(values) if isinstance(one, torch.Tensor)]
