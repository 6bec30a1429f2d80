"""A model computed with more precision than its weights have equals a copy of it in that precision,
also if its layers are streamed from host memory."""

from __future__ import annotations

import copy

import pytest
import torch
from toy_pairs import toy_pair

from sequoia.loading.model_families import known_types
from sequoia.loading.offload import LayerStream
from sequoia.models.compare_logits import own_logits, wider
from sequoia.models.tree_forward import TreeModel

TEXT = [5, 6, 7, 8, 9, 20, 21]
RUNNING = tuple(one.name for one in known_types().types if one.result in ("runs", "partly"))
SOME = ("llama", "gemma2", "mixtral", "longcat_flash")
# The positions of ctrl are a buffer that its forward rounds to the dtype of the weights, so a copy
# gets rounded positions.
EXACT = tuple(kind for kind in RUNNING if kind != "ctrl")


def error(kind: str) -> float:
    """The largest difference between a bfloat16 model of `kind` computed in float32 and a copy of
    the model in float32."""
    model = toy_pair(kind).target
    before = own_logits(model, TEXT)
    found = own_logits(wider(model), TEXT)
    assert torch.equal(own_logits(model, TEXT), before)
    copied = TreeModel(copy.deepcopy(model.hf).float(), kind)
    copied.vocab = model.vocab
    return float((found - own_logits(copied, TEXT)).abs().max())


@pytest.mark.parametrize("kind", SOME)
def test_a_model_computed_in_float32_equals_a_copy_in_float32(kind: str) -> None:
    assert error(kind) < 1e-5


@pytest.mark.nightly
@pytest.mark.parametrize("kind", EXACT)
def test_a_model_of_any_type_computed_in_float32_equals_a_copy(kind: str) -> None:
    assert error(kind) < 1e-5


def test_a_streamed_model_is_computed_in_float32_and_stays_in_bfloat16() -> None:
    model = toy_pair("llama").target
    expected = own_logits(wider(model), TEXT)
    LayerStream(model.hf, 0, model.device)
    assert torch.equal(own_logits(wider(model), TEXT), expected)
    assert {weight.dtype for weight in model.hf.parameters()} == {torch.bfloat16}
