"""The memory that a step takes for distributions is at most what is predicted, at temperature 0
and above, with and without top-p."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from sequoia.algorithm import distributions
from sequoia.algorithm.distributions import draft_warp, target_warp
from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.decoding.cuda.cuda_step import warp_into
from sequoia.models.memory_needs import CHUNK_ROWS, distribution_bytes

VOCAB = 4096


def peak_bytes(work: Callable[[], object]) -> int:
    """The most bytes of tensors that `work` has at once, on a CPU."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as made:
        work()
    found = made.profiler.kineto_results.events()
    changes = sorted((one.start_ns(), one.nbytes()) for one in found if one.name() == "[memory]")
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def cut_as_on_a_gpu(probs: torch.Tensor, top_p: float, share: float = 0.0) -> torch.Tensor:
    sizes = [k for k in distributions._LIKELIEST if k < VOCAB]
    distributions._cut(probs.view(-1, VOCAB), top_p, share, sizes)
    return probs


@pytest.mark.parametrize("nodes", [1, CHUNK_ROWS, 3 * CHUNK_ROWS])
@pytest.mark.parametrize("top_p", [1.0, 0.9])
@pytest.mark.parametrize("temperature", [0.0, 0.6, 1.0])
def test_a_step_takes_no_more_than_is_predicted(
    temperature: float, top_p: float, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributions, "cut", cut_as_on_a_gpu)
    params = SamplingParams(temperature=temperature, top_p=top_p)
    chance = chance_for(temperature, 0)
    logits = torch.randn(nodes, VOCAB).bfloat16()
    for warp in (target_warp(params), draft_warp(params)):
        warp(logits[:1])  # creates tensors that later calls reuse

    def work() -> None:
        q = torch.empty(nodes, VOCAB)
        warp_into(q, draft_warp(params), logits)
        for rows in q.split(CHUNK_ROWS):
            chance.successive(rows, 4)
        p = torch.empty(nodes, VOCAB, dtype=torch.float64)
        warp_into(p, target_warp(params), logits)

    small = 10_000 + 100 * nodes  # bytes for small tensors, which the prediction leaves out
    predicted = distribution_bytes(nodes, VOCAB, params)
    found = peak_bytes(work)
    assert found <= predicted + small
    assert found >= 0.5 * predicted
