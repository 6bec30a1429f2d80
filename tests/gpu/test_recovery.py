"""Decoding still works after a CUDA graph could not be captured, and after memory ran
out."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.errors import SequoiaError
from sequoia.loading.load import load_pair
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

_PARAMS = SamplingParams(temperature=0.0, max_new_tokens=32, ignore_eos=True)
_PROMPT = "class Stack:\n    def push(self, item):\n"
_TREE = Tree((-1, 0, 0, 1, 1, 2))


@pytest.mark.gpu
@pytest.mark.parametrize("trouble", ["nothing", "a failed capture", "too little memory"])
def test_a_text_is_the_same_after_a_failure(trouble: str) -> None:
    pair = load_pair(dtype="float32", online=False)
    expected = emitted_tokens([*plain(pair, _PROMPT, _PARAMS)])
    if trouble == "a failed capture":
        _failed_capture(pair)
    if trouble == "too little memory":
        _without_memory(pair)
    torch.cuda.empty_cache()
    torch.rand(8, device=pair.target.device).sum().item()
    assert emitted_tokens([*run(Decoder(pair, _PROMPT, _PARAMS, _TREE))]) == expected


def _failed_capture(pair: Pair) -> None:
    """Run a model whose capture fails. Its rotary frequencies depend on the length of the text, so
    it reads positions on the host. A capture does not allow that."""
    config: Any = LlamaConfig(
        vocab_size=256,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=256,
        rope_parameters={"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10_000.0},
    )
    hf: Any = LlamaForCausalLM(config)
    model = use_fast_forward(TreeModel(hf.to(pair.target.device), "dynamic rotary frequencies"))
    assert "cannot be captured" in model.no_fast_forward
    context = model.open(32)
    context.capture([4, 6])
    context.extend([1, 2, 3])


def _without_memory(pair: Pair) -> None:
    """Start a run with too little memory for its graphs and its KV cache."""
    device = pair.target.device
    total = torch.cuda.get_device_properties(device).total_memory
    for model in (pair.target, pair.draft):
        model.forget()
    torch.cuda.empty_cache()
    share = (torch.cuda.memory_reserved(device) + 2**23) / total
    torch.cuda.set_per_process_memory_fraction(share, device)
    try:
        with suppress(torch.OutOfMemoryError, SequoiaError):
            for _ in run(Decoder(pair, _PROMPT, _PARAMS, Tree.sequences(100, 5))):
                pass
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0, device)
