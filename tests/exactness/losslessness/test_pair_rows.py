"""The float32 copy of a target: its logits, and when there is none."""

from __future__ import annotations

import copy

import pytest
import torch
from toy_pairs import toy_pair

from sequoia.errors import OutOfMemory
from sequoia.exactness.losslessness.tested_models import float32_copy
from sequoia.models.compare_logits import own_logits
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine import memory


def test_the_copy_is_in_float32_and_the_target_is_not_changed() -> None:
    target = toy_pair("mixtral", tie_word_embeddings=True).target
    wide = float32_copy(target)
    text = [5, 6, 7, 8]
    expected = TreeModel(copy.deepcopy(target.hf).float(), "expected")
    assert torch.equal(own_logits(wide, text), own_logits(expected, text))
    assert {one.dtype for one in wide.hf.parameters()} == {wide.dtype} == {torch.float32}
    assert {one.dtype for one in target.hf.parameters()} == {torch.bfloat16}
    assert wide.hf.get_input_embeddings().weight is wide.hf.get_output_embeddings().weight
    assert wide.vocab == target.vocab


def test_without_room_for_it_there_is_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    target = toy_pair("llama").target
    target.placement = "6 of 8 layers on the CPU"
    with pytest.raises(OutOfMemory, match="6 of 8 layers"):
        float32_copy(target)
    target.placement = ""
    monkeypatch.setattr(memory, "free_bytes", lambda _: 50_000)
    with pytest.raises(OutOfMemory, match="a float32 copy of the target needs about"):
        float32_copy(target)
