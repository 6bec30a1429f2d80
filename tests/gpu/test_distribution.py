"""Tokens sampled on the GPU follow the right distribution.

The first tokens of many seeded steps are compared with the target's distribution, for each verifier
that can run on the GPU. For pairs of children drawn from a draft distribution, the counts are
compared with the exact probabilities.
"""

from __future__ import annotations

from itertools import islice

import pytest
import torch

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import SEQUOIA, SPECINFER
from sequoia.exactness.same_distribution import FirstTokens, find_position, first_tokens
from sequoia.loading.load import load_pair
from sequoia.models.pair import Pair

_CASES = ((0.6, 1.0), (1.0, 1.0), (0.6, 0.9))  # temperature, top-p
_VERIFIERS = (SEQUOIA.key, SPECINFER.key)
_TREE = Tree((-1, 0, 0, 0, 1, 1, 2, 4))
_Q = (0.4, 0.25, 0.2, 0.1, 0.04, 0.01)  # the draft distribution that pairs are drawn from
_DRAWS = 1_000  # first tokens drawn in each case
_PROMPT = "def mean(values):\n    "


@pytest.mark.gpu
@pytest.mark.parametrize("case", _CASES)
@pytest.mark.parametrize("verifier", _VERIFIERS)
def test_first_tokens_follow_the_target(verifier: str, case: tuple[float, float]) -> None:
    temperature, top_p = case
    params = SamplingParams(temperature=temperature, top_p=top_p, seed=7)
    assert _counted(load_pair(online=False), params, verifier, _DRAWS).verdict == "fits"


@pytest.mark.gpu
def test_children_drawn_on_a_gpu_have_their_exact_probabilities() -> None:
    assert drawn_pairs(torch.device("cuda"), 100_000).verdict == "fits"


def test_children_drawn_on_a_cpu_have_their_exact_probabilities(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu = torch.device("cpu")
    assert drawn_pairs(cpu, 20_000).verdict == "fits"
    monkeypatch.setattr(
        Seeded,
        "successive",
        lambda self, q, k: torch.stack([q[:, :1], 1 - q[:, :1]], 1).argsort(1)[..., 0],
    )
    assert drawn_pairs(cpu, 20_000).verdict == "differs"


def drawn_pairs(device: torch.device, pairs: int) -> FirstTokens:
    """Draw `pairs` pairs of children from _Q without replacement, and count each pair. FirstTokens
    counts token ids, so pair (i, j) is counted as token 6 i + j. Its exact probability is
    q_i q_j / (1 - q_i)."""
    q = torch.tensor(_Q, dtype=torch.float64)
    exact = q[:, None] * q / (1 - q[:, None])
    exact = exact.fill_diagonal_(0).flatten()
    rows = q.float().to(device).expand(pairs, -1)
    drawn = Seeded(3, device).successive(rows, 2)  # (rows, 2)
    codes = (drawn[:, 0] * len(_Q) + drawn[:, 1]).cpu().bincount(minlength=len(_Q) ** 2)
    counts = {code: count for code, count in enumerate(codes.tolist()) if count}
    return FirstTokens(exact / exact.sum(), counts)


def _counted(pair: Pair, params: SamplingParams, verifier: str, draws: int) -> FirstTokens:
    position = find_position(pair, _PROMPT, (), params)
    counted = first_tokens(pair, _PROMPT, params, _TREE, verifier, position)
    return next(islice(counted, draws - 1, None))
