"""The self-test compares a tree's logits with the bare model's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from fakes import tiny_model

from sequoia.errors import BadModel
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel


def test_learned_positions_that_end_before_the_stated_context_are_found() -> None:
    model = TreeModel(tiny_model("gpt2", context=8), "short")
    model.limit = 64
    with pytest.raises(IndexError):
        self_test(model)


def test_if_passes_are_slow_few_tokens_are_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with an offloaded target."""
    monkeypatch.setattr("sequoia.models.self_test.SECONDS", 0.0)
    model = TreeModel(tiny_model(), "slow")
    self_test(model)
    assert model.tested.startswith("2 tokens of a tree were changed")


def from_the_first_prefix(model: TreeModel) -> TreeModel:
    """`model` with a wrong forward: every pass uses the prefix length of the first pass that had
    the same size and the same `last_only`."""
    forward = model.forward
    seen = dict[tuple[int, bool], int]()

    def baked(ids: Any, positions: Any, mask: Any, kv_cache: Any, last_only: bool) -> torch.Tensor:
        length = seen.setdefault((ids.shape[1], last_only), kv_cache.length)
        return forward(ids, positions - kv_cache.length + length, mask, kv_cache, last_only)

    model.forward = baked
    return model


def test_a_forward_that_keeps_the_length_of_its_first_prefix_is_found() -> None:
    with pytest.raises(BadModel, match="cannot run a tree"):
        self_test(from_the_first_prefix(TreeModel(tiny_model(), "baked")))
