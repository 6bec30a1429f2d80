"""Runs of the bundled pair need no more memory than predicted."""

from __future__ import annotations

import pytest
import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.decoding.engine import Decoder, run
from sequoia.loading.load import load_pair
from sequoia.models.pair import Pair

_NODES = (16, 64, 256, 1024)
_SAMPLING = ((0.0, 1.0), (0.6, 1.0), (0.6, 0.9))  # temperature, top-p
_PROMPT = "def fibonacci(n):\n"
_ASSUMED = Acceptance.power_law(2.0, 0.6, 32)


@pytest.mark.gpu
@pytest.mark.parametrize("nodes", _NODES)
@pytest.mark.parametrize(("temperature", "top_p"), _SAMPLING)
def test_a_run_uses_no_more_memory_than_predicted(
    nodes: int, temperature: float, top_p: float
) -> None:
    params = SamplingParams(temperature=temperature, top_p=top_p, max_new_tokens=48)
    predicted, peak = _bytes(load_pair(online=False), nodes, params)
    assert peak <= predicted


def _bytes(pair: Pair, nodes: int, params: SamplingParams) -> tuple[int, int]:
    """The bytes that a run is predicted to need, and the most that it had allocated."""
    device = pair.target.device
    for model in (pair.target, pair.draft):
        model.forget()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    decoder = Decoder(pair, _PROMPT, params, best_tree(_ASSUMED, nodes))
    predicted = decoder.bytes
    for _ in run(decoder):
        pass
    return int(predicted), torch.cuda.max_memory_allocated(device) - before
