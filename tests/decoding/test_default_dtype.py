"""transformers changes torch's default dtype, for all threads, while it loads a model. A run in
another thread must not notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from fakes import tiny_model

from sequoia import Decoder, Pair, SamplingParams, StepTrace, Tree
from sequoia.decoding.engine import run
from sequoia.models.native.library import NoLibrary
from sequoia.models.native.native_llama import native_forward
from sequoia.models.ngram import NGram
from sequoia.models.packed_llama import FastLlama
from sequoia.models.tree_forward import Forward, TreeModel

TREE = Tree((-1, 0, 0, 1, 1, 2, 3))


def _native(hf: Any) -> Forward | None:
    try:
        return native_forward(hf)
    except NoLibrary as problem:
        pytest.skip(str(problem))


_FORWARDS: dict[str, Callable[[Any], Forward | None]] = {
    "transformers": lambda _: None,
    "fast": lambda hf: FastLlama(hf, torch.float32),
    "native": _native,
}


@contextmanager
def _while_a_model_is_loaded() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _model(name: str, forward: str) -> TreeModel:
    model = TreeModel(tiny_model("llama", head_dim=16), name)
    faster = _FORWARDS[forward](model.hf)
    return model if faster is None else model.with_forward(faster)


def _steps(pair: Pair, temperature: float) -> list[StepTrace]:
    params = SamplingParams(temperature=temperature, max_new_tokens=12, ignore_eos=True)
    found = run(Decoder(pair, "text", params, TREE))
    return [replace(one, seconds={}, level_seconds=()) for one in found]


@pytest.mark.parametrize("temperature", [0.0, 0.7])
@pytest.mark.parametrize("draft", ["model", "ngram"])
@pytest.mark.parametrize("forward", _FORWARDS)
def test_same_steps_while_another_model_is_loaded(
    forward: str, draft: str, temperature: float
) -> None:
    target = _model("target", forward)
    second = NGram(target.vocab, target.limit) if draft == "ngram" else _model("draft", forward)
    pair = Pair("tiny", target, second, lambda *_, **__: {"input_ids": [1, 2, 1, 2]})
    expected = _steps(pair, temperature)
    with _while_a_model_is_loaded():
        assert _steps(pair, temperature) == expected
