"""Compares the peak memory of runs of the bundled pair with the prediction."""

from __future__ import annotations

import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.decoding.engine import Decoder, run
from sequoia.loading.load import load_pair
from sequoia.models.pair import Pair
from sequoia.report.tasks.found import Found
from sequoia.this_machine.memory import size

_NODES = (16, 64, 256, 1024)
_SAMPLING = ((0.0, 1.0), (0.6, 1.0), (0.6, 0.9))  # temperature, top-p
_PROMPT = "def fibonacci(n):\n"
_ASSUMED = Acceptance.power_law(2.0, 0.6, 32)


def memory() -> Found:
    """Run every size of tree with every way of sampling. Fails if a run uses more memory than
    predicted."""
    pair = load_pair(online=False)
    figures = {
        f"{nodes} nodes, T = {temperature:g}, top-p {top_p:g}": _bytes(
            pair, nodes, SamplingParams(temperature=temperature, top_p=top_p, max_new_tokens=48)
        )
        for nodes in _NODES
        for temperature, top_p in _SAMPLING
    }
    worst = max(figures, key=lambda name: figures[name]["peak"] / figures[name]["predicted"])
    peak, predicted = (figures[worst][name] for name in ("peak", "predicted"))
    words = f"closest to its limit: {worst}, {size(peak)} used of {size(predicted)} predicted"
    return Found(words, figures, peak <= predicted)


def _bytes(pair: Pair, nodes: int, params: SamplingParams) -> dict[str, int]:
    device = pair.target.device
    for model in (pair.target, pair.draft):
        model.forget()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    reserved = torch.cuda.memory_reserved(device)
    decoder = Decoder(pair, _PROMPT, params, best_tree(_ASSUMED, nodes))
    predicted = decoder.bytes
    for _ in run(decoder):
        pass
    return {
        "predicted": int(predicted),
        "peak": torch.cuda.max_memory_allocated(device) - before,
        "reserved": torch.cuda.max_memory_reserved(device) - reserved,
    }
