"""Tests whether tokens sampled on the GPU follow the right distribution.

The first tokens of many seeded steps are compared with the target's distribution, for each verifier
that can run on the GPU. For pairs of children drawn from a draft distribution, the counts are
compared with the exact probabilities.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import torch

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import SEQUOIA, SPECINFER
from sequoia.exactness.same_distribution import FirstTokens, find_position, first_tokens
from sequoia.loading.load import load_pair
from sequoia.models.pair import Pair
from sequoia.report.tasks.found import Found

_CASES = ((0.6, 1.0), (1.0, 1.0), (0.6, 0.9))  # temperature, top-p
_VERIFIERS = (SEQUOIA.key, SPECINFER.key)
_TREE = Tree((-1, 0, 0, 0, 1, 1, 2, 4))
_Q = (0.4, 0.25, 0.2, 0.1, 0.04, 0.01)  # the draft distribution that pairs are drawn from
_PAIRS = 100_000  # number of pairs drawn
_PROMPT = "def mean(values):\n    "


def distribution(draws: str) -> Found:
    """Run all tests. draws: the number of first tokens for each verifier in each of _CASES. The
    check fails if any verdict is "differs" or "too few"."""
    pair = load_pair(online=False)
    results = {
        f"{verifier}, T = {params.temperature:g}, top-p {params.top_p:g}": _counted(
            pair, params, verifier, int(draws)
        )
        for verifier in _VERIFIERS
        for params in (SamplingParams(temperature=t, top_p=p, seed=7) for t, p in _CASES)
    }
    results["children drawn"] = drawn_pairs(pair.draft.device)
    return summary(results, f"of at least {draws} draws")


def summary(results: Mapping[str, FirstTokens], size: str) -> Found:
    """The results of all tests together. results: the counts of each test, by its name. size: how
    large the tests are, in words."""
    values = {name: result.p_value for name, result in results.items()}
    tested = {name: value for name, value in values.items() if value is not None}
    words = [f"{len(values)} tests {size}"]
    if tested:
        worst = min(tested, key=tested.__getitem__)
        words.append(f"lowest p-value {tested[worst]:.2g} ({worst})")
    if untested := values.keys() - tested.keys():
        words.append(f"too few draws for {', '.join(sorted(untested))}")
    is_right = all(result.verdict not in ("differs", "too few") for result in results.values())
    return Found("; ".join(words), values, is_right)


def drawn_pairs(device: torch.device) -> FirstTokens:
    """Draw _PAIRS pairs of children from _Q without replacement, and count each pair. FirstTokens
    counts token ids, so pair (i, j) is counted as token 6 i + j. Its exact probability is
    q_i q_j / (1 - q_i)."""
    q = torch.tensor(_Q, dtype=torch.float64)
    exact = q[:, None] * q / (1 - q[:, None])
    exact = exact.fill_diagonal_(0).flatten()
    rows = q.float().to(device).expand(_PAIRS, -1)
    pairs = Seeded(3, device).successive(rows, 2)  # (rows, 2)
    codes = (pairs[:, 0] * len(_Q) + pairs[:, 1]).cpu().bincount(minlength=len(_Q) ** 2)
    counts = {code: count for code, count in enumerate(codes.tolist()) if count}
    return FirstTokens(exact / exact.sum(), counts)


def _counted(pair: Pair, params: SamplingParams, verifier: str, draws: int) -> FirstTokens:
    position = find_position(pair, _PROMPT, (), params)
    counted = first_tokens(
        pair, _PROMPT, params, _TREE, verifier, draws=draws, batch=draws, position=position
    )
    return deque(counted, maxlen=1)[0]
