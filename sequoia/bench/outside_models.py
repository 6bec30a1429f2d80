"""What a step costs outside the models: softmax, top-p, drawing and verification.

Both models are replaced by stored logits, so that any vocabulary can be timed. A row's logits fall
with the logarithm of the rank (Zipf's law) in random order, with an exponent between 1 and 2.5; the
draft's are the target's with noise. With `flat`, the target's logits are noise alone. Time is the
processor time of the thread, without the stored models' passes.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.decoding.engine import Decoder
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

VOCABULARIES = (32_000, 151_936)
_SETTINGS = ((0.6, 1.0), (0.6, 0.9), (0.0, 1.0))  # temperature, top-p
_NODES = 63
_RATES = Acceptance((0.6, 0.15, 0.07, 0.04, 0.02, 0.01, 0.01))
_ROWS = 64  # different rows of logits
_STEPS = 24
_WARM_UP = 4


def print_outside(vocabularies: Sequence[int] = VOCABULARIES) -> None:
    """Print the median time of a step outside the models, for each vocabulary and setting."""
    tree = best_tree(_RATES, _NODES)
    print(
        f"Processor time of a step outside the models, a tree of {_NODES} nodes, "
        f"{torch.get_num_threads()} threads: measured, ms, median of {_STEPS - _WARM_UP} steps"
    )
    print("| vocabulary | logits | temperature | top-p | ms |\n|---|---|---|---|---|")
    for vocab in vocabularies:
        for is_flat in (False, True):
            pair = _stored_pair(vocab, is_flat)
            for temperature, top_p in _SETTINGS:
                params = SamplingParams(temperature, top_p, max_new_tokens=1000, ignore_eos=True)
                seconds = _step_seconds(Decoder(pair, "text", params, tree))
                words = "flat" if is_flat else "like a model's"
                print(
                    f"| {vocab:,} | {words} | {temperature:g} | {top_p:g} | {1000 * seconds:.1f} |"
                )


def _step_seconds(decoder: Decoder) -> float:
    decoder.prefill()
    models = [context.model for context in decoder.contexts]
    stored = [model.forward for model in models if isinstance(model, TreeModel)]
    times = []
    for _ in range(_STEPS):
        before = sum(one.seconds for one in stored)
        start = time.thread_time()
        decoder.step()
        outside = time.thread_time() - start - (sum(one.seconds for one in stored) - before)
        times.append(outside)
    return statistics.median(times[_WARM_UP:])


class _Stored:
    """A forward pass that looks its logits (_ROWS, vocab) up. seconds: processor time so far."""

    mask_dtype = torch.float32

    def __init__(self, logits: torch.Tensor) -> None:
        self._logits = logits
        self.seconds = 0.0

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, _mask: Any, cache: Any, last_only: bool
    ) -> torch.Tensor:
        start = time.thread_time()
        rows = (7 * ids[0] + 13 * positions[0]) % _ROWS
        nothing = torch.zeros(1, 1, len(rows), 4)
        cache.update(nothing, nothing, 0)
        logits = self._logits[rows[-1:] if last_only else rows]
        self.seconds += time.thread_time() - start
        return logits


def _stored_pair(vocab: int, is_flat: bool) -> Pair:
    chance = torch.Generator().manual_seed(0)
    target = torch.randn(_ROWS, vocab, generator=chance)
    if not is_flat:
        falling = -torch.arange(1, vocab + 1).log()
        for row in target:
            exponent = 1 + 1.5 * torch.rand(1, generator=chance)
            row.mul_(0.2).add_(exponent * falling[torch.randperm(vocab, generator=chance)])
    draft = target + 0.7 * torch.randn(_ROWS, vocab, generator=chance)
    return Pair("stored logits", _model(target), _model(draft), _tokenizer)


def _model(logits: torch.Tensor) -> TreeModel:
    config = LlamaConfig(
        vocab_size=logits.shape[-1],
        hidden_size=4,
        intermediate_size=4,
        num_hidden_layers=1,
        num_attention_heads=1,
        head_dim=4,
        tie_word_embeddings=True,
    )
    return TreeModel(LlamaForCausalLM(config), "stored logits").with_forward(_Stored(logits))


def _tokenizer(_text: str, **_options: Any) -> dict[str, list[int]]:
    return {"input_ids": [1, 2, 3]}
