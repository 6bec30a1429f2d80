"""The self-test compares a tree's logits with the bare model's: at the start of a text, around the
positions at which the config says that the computation may change, and near the end of the context.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from fakes import KINDS, tiny_model
from toy_models import random_model, toy_config
from toy_variants import variants

from sequoia.errors import BadModel
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel


def llama(variant: str, **changes: Any) -> TreeModel:
    """A toy whose config states 64 tokens, and an original context of 32 with some ropes."""
    config = toy_config("llama", dict(variants("llama")[variant]) | changes)
    return TreeModel(random_model(config), "long")


def test_a_model_is_tested_at_its_last_position_and_where_its_config_changes() -> None:
    model = llama("rope yarn")
    self_test(model)
    assert model.tested.endswith("at position 0, 32 and 62")


def test_the_last_position_of_a_million_is_tested() -> None:
    model = llama("base", max_position_embeddings=2**20)
    self_test(model)
    assert model.tested.endswith("at position 0 and 1,048,574")


def test_longrope_is_tested_up_to_its_original_context_only() -> None:
    model = llama("rope longrope")
    self_test(model)
    assert model.limit == 32
    assert model.tested.endswith("at position 0 and 30")


def test_a_change_below_the_limit_is_found() -> None:
    """A kind of position scaling that this program does not know could cause such a change."""
    model = llama("rope longrope")
    model.limit = 64
    with pytest.raises(
        BadModel, match=r"long cannot run a tree: its logits around position 32 differ"
    ):
        self_test(model)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_passes_at_its_last_position(kind: str) -> None:
    model = TreeModel(tiny_model(kind, context=96), kind)
    self_test(model)
    assert model.tested.endswith("at position 0 and 94")


def test_learned_positions_that_end_before_the_stated_context_are_found() -> None:
    model = TreeModel(tiny_model("gpt2", context=64), "short")
    model.limit = 65
    with pytest.raises(IndexError):
        self_test(model)


def test_a_model_with_slow_passes_is_tested_at_the_start_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If passes are slow, as with an offloaded target, only the start is tested."""
    monkeypatch.setattr("sequoia.models.self_test.SECONDS", 0.0)
    model = llama("rope yarn")
    self_test(model)
    assert model.tested.startswith("2 tokens of a tree were changed")
    assert model.tested.endswith("at position 0")


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
