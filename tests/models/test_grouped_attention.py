"""Grouped-query attention without copies of keys and values. It gives the same result as
`transformers`, and leaves the cases that it does not support to `transformers`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from fakes import tiny_model

from sequoia.algorithm.tree import Tree
from sequoia.models import grouped_attention as grouped_module
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.grouped_attention import grouped_attention, grouped_forward
from sequoia.models.tree_forward import TreeModel

TREE = Tree((-1, 0, 0, 1, 1, 2))


def states(heads: int, kv_heads: int, rows: int, columns: int) -> list[torch.Tensor]:
    """Query, key, value, and a mask in which every row sees some columns."""
    torch.manual_seed(heads + rows)
    mask = torch.zeros(1, 1, rows, columns)
    mask[torch.rand(mask.shape) < 0.5] = torch.finfo(torch.float32).min
    mask[..., 0] = 0
    return [
        torch.randn(1, rows, heads, 16).transpose(1, 2),
        torch.randn(1, kv_heads, columns, 16),
        torch.randn(1, kv_heads, columns, 16),
        mask,
    ]


@pytest.mark.parametrize("special", [{"position_bias": torch.zeros(1)}, {"s_aux": torch.zeros(1)}])
def test_unsupported_inputs_are_passed_on_to_transformers(
    special: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A position bias and attention sinks (`s_aux`) are not supported."""
    asked = []
    monkeypatch.setattr(
        grouped_module, "sdpa_attention_forward", lambda *_, **options: asked.append(options)
    )
    grouped_attention(SimpleNamespace(), *states(8, 2, 4, 9), **special)
    assert len(asked) == 1


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("kv_heads", [1, 2])
def test_a_whole_model_gives_the_same_logits(kind: str, kv_heads: int) -> None:
    hf = tiny_model(kind, kv_heads=kv_heads)
    plain, model = (TreeModel(hf, kind) for _ in range(2))
    grouped = grouped_forward(hf)
    assert grouped
    calls: list[int] = []

    def forward(*given: Any) -> torch.Tensor:
        calls.append(1)
        return grouped(*given)

    model.forward = forward
    found = []
    for one in (plain, model):
        context = one.open(60)
        context.extend(range(20))
        layout = TreeLayout(context, TREE)
        found.append(context.forward([1, 2, 3, 4, 5, 6], layout))
    assert torch.allclose(*found, atol=1e-4)
    assert calls
    assert hf.config._attn_implementation == "sdpa"


def test_a_model_with_a_key_head_for_each_query_head_has_no_groups() -> None:
    assert grouped_forward(tiny_model("gpt2")) is None
    assert grouped_forward(tiny_model("llama", kv_heads=4)) is None
