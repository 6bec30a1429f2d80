"""The threads of torch in a step with native passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from fakes import tiny_model

from sequoia import Decoder, Pair, SamplingParams, Tree
from sequoia.models.native import native_llama
from sequoia.models.native.library import NoLibrary
from sequoia.models.native.native_llama import (
    NativeLlama,
    native_forward,
    one_torch_thread,
    pass_threads,
)
from sequoia.models.ngram import NGram
from sequoia.models.tree_forward import TreeModel


@pytest.fixture(autouse=True)
def _three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def native(name: str) -> TreeModel:
    model = TreeModel(tiny_model("llama", head_dim=16), name)
    try:
        forward = native_forward(model.hf)
    except NoLibrary as problem:
        pytest.skip(str(problem))
    assert forward is not None
    return model.with_forward(forward)


@pytest.mark.parametrize("draft", ["model", "lookup"])
def test_a_step_uses_one_thread_outside_its_passes(
    draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = native("draft") if draft == "model" else NGram(native("target").vocab, 512)
    pair = Pair("tiny", native("target"), small, lambda *_, **__: {"input_ids": [1, 2]})
    decoder = Decoder(pair, "text", SamplingParams(max_new_tokens=9), Tree((-1, 0, 0, 1)))
    decoder.prefill()
    seen = set[tuple[int, int]]()
    usual = NativeLlama._logits

    def logits(self: NativeLlama, *given: Any) -> torch.Tensor:
        seen.add((torch.get_num_threads(), native_llama.pass_threads()))
        return usual(self, *given)

    monkeypatch.setattr(NativeLlama, "_logits", logits)
    decoder.step()
    assert seen == {(1, 3)}
    assert (torch.get_num_threads(), pass_threads()) == (3, 3)


def test_large_vocabularies_and_other_passes_keep_all_threads() -> None:
    large = native("large")
    large.vocab = 150_000
    for models in ([large], [TreeModel(tiny_model("llama"), "not native"), native("small")]):
        with one_torch_thread(models):
            assert torch.get_num_threads() == 3
