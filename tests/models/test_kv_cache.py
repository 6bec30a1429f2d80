"""KV cache and context: what they say of themselves, and keys and values of all layers together."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from fakes import tiny_model
from torch.utils._python_dispatch import TorchDispatchMode

from sequoia.algorithm.tree import Tree
from sequoia.errors import BadPrompt
from sequoia.models import cache_and_mask as kv_cache_module
from sequoia.models.cache_and_mask import KVCache, TreeLayout
from sequoia.models.tree_forward import TreeModel


def test_text_that_does_not_fit_is_refused_and_nothing_changes() -> None:
    context = TreeModel(tiny_model(), "tiny").open(4)
    context.extend([1, 2, 3])
    with pytest.raises(BadPrompt, match="5 tokens do not fit in this run's 4 cache slots"):
        context.extend([4, 5])
    assert (context.length, context.kv_cache.written) == (3, 0)
    context.extend([4])
    assert context.length == 4


# -- keys and values of all layers together -------------------------------------------------------


class Operations(TorchDispatchMode):
    """Counts operations that a GPU would launch a kernel or a copy for."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.namespace == "aten" and not func.is_view:
            self.count += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("layers", [2, 6])
def test_keeping_a_path_takes_few_operations_for_any_number_of_layers(layers: int) -> None:
    model = TreeModel(tiny_model("gpt_neox", layers=layers), "neox")
    context = model.open(40)
    context.extend(range(5))
    context.forward([1, 2, 3, 4], TreeLayout(context, Tree.from_branching([3])))
    tensors = context.kv_cache.memory
    assert len(tensors) == 2
    with Operations() as made:
        kv_cache_module._move_on_devices(tensors, [5, 8], 5)
    assert made.count <= 5


def test_the_slots_of_layers_that_differ_after_all_are_kept_too() -> None:
    """The cache was created for layers of one shape (alike=True), but the second layer has another
    shape."""
    kv_cache = KVCache(3, 8, alike=True)
    kv_cache.reserve(3)
    for i, dim in enumerate((4, 6, 4)):
        states = torch.arange(3.0)[None, None, :, None].expand(1, 2, 3, dim)
        kv_cache.update(states, states + 10 * i, i)
    kv_cache.keep([0, 2])
    for i, layer in enumerate(kv_cache.cache_layers):
        assert layer.keys[0, 1, :2, 0].tolist() == [0, 2]
        assert layer.values[0, 1, :2, 0].tolist() == [10 * i, 10 * i + 2]
    kv_cache.clear()
    assert not any(layer.values.any() for layer in kv_cache.cache_layers)
