"""Offloading: a model whose layers are streamed from host memory must have the same logits
as the same model kept whole on the card.

Random delays come before copies and layers. If a layer used its buffer before the copy was
complete, or if a buffer were refilled while a layer still used it, the logits would differ.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
import torch
from fakes import tree_logits
from transformers import LlamaConfig, LlamaForCausalLM

from sequoia.loading.offload import Copier, LayerStream, copier_for
from sequoia.models.layers import decoder_layers
from sequoia.models.tree_forward import TreeModel

CPU = torch.device("cpu")
_LAYERS = 6
_MAX_CYCLES = 2_000_000  # clock cycles of the longest delay, about a millisecond
_PROBABILITY = 0.4  # of a delay before each copy and each layer


@pytest.mark.gpu
@pytest.mark.parametrize("resident", [0, 1, _LAYERS // 2])
def test_streamed_passes_on_a_gpu_equal_the_whole_model(resident: int) -> None:
    assert not _different(torch.device("cuda"), resident, passes=50)


def test_a_copy_that_comes_too_late_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DelayedCopier, "begin", lambda self, host, buffer: buffer.zero_())
    monkeypatch.setattr(DelayedCopier, "wait", lambda self, ticket: None)
    assert _different(CPU, 0, passes=1)


def _different(device: torch.device, resident: int, passes: int) -> int:
    """In how many of `passes` runs the logits differ from those of the whole model."""
    hf = _model()
    whole = TreeModel(copy.deepcopy(hf).to(device), "whole")
    expected = tree_logits(whole)
    chance = random.Random(resident)
    LayerStream(hf, resident, device, DelayedCopier(copier_for(device), device, chance))
    for layer in decoder_layers(hf)[1]:
        layer.register_forward_pre_hook(lambda *_: delay(device, chance))
    model = TreeModel(hf, "streamed", device)
    return sum(not torch.equal(tree_logits(model), expected) for _ in range(passes))


def _model() -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config: Any = LlamaConfig(
            vocab_size=256,
            hidden_size=128,
            intermediate_size=512,
            num_hidden_layers=_LAYERS,
            num_attention_heads=4,
        )
        return LlamaForCausalLM(config).eval()


def delay(device: torch.device, chance: random.Random) -> None:
    """With probability _PROBABILITY, keep the card's current stream busy for a random time. Without
    a card there is no delay."""
    if chance.random() < _PROBABILITY and device.type == "cuda":
        torch.cuda._sleep(chance.randrange(_MAX_CYCLES))


class DelayedCopier:
    """`copier` with random delays on the stream that copies."""

    def __init__(self, copier: Copier, device: torch.device, chance: random.Random) -> None:
        self._copier = copier
        self._device = device
        self._chance = chance

    def host(self, count: int) -> torch.Tensor:
        return self._copier.host(count)

    def buffer(self, count: int) -> torch.Tensor:
        return self._copier.buffer(count)

    def begin(self, host: torch.Tensor, buffer: torch.Tensor) -> Any:
        stream = getattr(self._copier, "_stream", None)
        if stream is not None:
            with torch.cuda.stream(stream):
                delay(self._device, self._chance)
        return self._copier.begin(host, buffer)

    def wait(self, ticket: Any) -> None:
        self._copier.wait(ticket)
