"""The first two tokens that a real model emits at temperature 0.8 follow the distribution that
`transformers` alone computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from decoded import emitted
from goodness_of_fit import fit
from real_pair import real_pair
from transformers import AutoModelForCausalLM

from sequoia import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.decoding.engine import Decoder, run
from sequoia.exactness.chi_square import ALARM

pytestmark = [pytest.mark.real, pytest.mark.nightly]

PROMPT = "My favourite colour is"
SAMPLED = SamplingParams(temperature=0.8, max_new_tokens=2, ignore_eos=True)
TREE = Tree.from_branching([3, 2])
DRAWS = 300
COMMON = 0.02  # the least probability of a token that is counted on its own
OTHER = -1
Shares = dict[int, float]


@pytest.fixture(scope="module")
def shares(real_model: Path, real_draft: Path) -> tuple[Shares, dict[int, Shares]]:
    """The distribution of the first token, and that of the second token after each common one."""
    model = AutoModelForCausalLM.from_pretrained(real_model, dtype=torch.float32)
    ids = real_pair(real_model, real_draft, "float32").encode(PROMPT)
    first = _next(model, ids)
    return first, {token: _next(model, (*ids, token)) for token in first if token != OTHER}


@torch.inference_mode()
def _next(model: Any, ids: tuple[int, ...]) -> Shares:
    """The probabilities of the common next tokens, and of all OTHER tokens together."""
    logits = model(torch.tensor([ids])).logits[0, -1].double()
    probs = torch.softmax(logits / SAMPLED.temperature, -1)
    common = (probs >= COMMON).nonzero()[:, 0].tolist()
    return {token: float(probs[token]) for token in common} | {
        OTHER: float(probs[probs < COMMON].sum())
    }


def cell(tokens: list[int], first: Shares, second: Mapping[int, Shares]) -> tuple[int, int]:
    """The two tokens, with OTHER for each that is not common there."""
    one, two = tokens
    if one not in first:
        return OTHER, OTHER
    return one, two if two in second[one] else OTHER


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_two_tokens_follow_the_distribution_that_transformers_computes(
    verifier: str,
    real_model: Path,
    real_draft: Path,
    shares: tuple[Shares, dict[int, Shares]],
) -> None:
    """Guards against wrong acceptance, residuals or cache rows, which shift probabilities. With
    each verifier, a correct decoder would fail for one in 10,000 choices of the seeds at most (see
    FirstTokens in same_distribution.py). The seeds are fixed."""
    first, second = shares
    joint = {
        (one, two): share * other
        for one, share in first.items()
        for two, other in second.get(one, {OTHER: 1.0}).items()
    }
    pair = real_pair(real_model, real_draft, "float32")
    drawn = [
        emitted(run(Decoder(pair, PROMPT, replace(SAMPLED, seed=seed), TREE, verifier)))
        for seed in range(DRAWS)
    ]
    value = fit((cell(tokens, first, second) for tokens in drawn), joint)
    cells = sum(DRAWS * share >= 5 for share in joint.values())
    print(f"\n{verifier}: p = {value:.3g}, {cells} cells with at least 5 expected draws")
    assert cells >= 8
    assert value > ALARM
