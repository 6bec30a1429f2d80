"""Teacher-forced acceptance adds up acceptance probabilities over the positions of a text. Averaged
over texts, they must be close to the rates that decoding counts. (For single positions, the
guarantees compare the probabilities with exact ones.)

One test compares two random measurements. Its seeds are fixed. With other seeds, it would fail by
chance less than once in a million runs.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from fakes import PROMPTS, same_pair, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadTree
from sequoia.measuring import acceptance_teacher_forced
from sequoia.measuring.acceptance_teacher_forced import (
    agreement,
    teacher_forced_acceptance,
)
from sequoia.measuring.counted_acceptance import count_acceptance
from sequoia.models.compare_logits import own_logits

WARM = SamplingParams(temperature=0.8, max_new_tokens=40, ignore_eos=True)
GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)


@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_draft_with_the_targets_weights_is_always_right(temperature: float) -> None:
    found = teacher_forced_acceptance(
        same_pair(), PROMPTS, replace(WARM, temperature=temperature), ranks=4
    )
    assert found.accepted == pytest.approx((found.visited, 0, 0, 0), abs=1e-3)
    assert found.visited == 3 * 40


@pytest.mark.parametrize("block", [1, 7, 64])
def test_greedy_counts_are_the_ranks_of_the_targets_tokens(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Each position must have the right context, whatever the block size. The expected ranks are
    computed with the bare `transformers` models."""
    monkeypatch.setattr(acceptance_teacher_forced, "BLOCK", block)
    pair = tiny_pair()
    text = PROMPTS[0]
    ids = torch.tensor([pair.encode(text)])
    with torch.inference_mode():
        best = pair.target.hf(input_ids=ids).logits[0].argmax(-1)
        order = pair.draft.hf(input_ids=ids).logits[0].argsort(-1, descending=True)
    ranks = [(order[i] == best[i]).nonzero().item() for i in range(ids.shape[1])]
    found = teacher_forced_acceptance(pair, [text], GREEDY, ranks=6, own=False)
    assert found.accepted == tuple(ranks.count(rank) for rank in range(6))
    assert found.visited == len(ranks)


def test_teacher_forced_rates_agree_with_counts_from_decoding() -> None:
    """Guards against distributions or draws of siblings that differ from the decoder's, and against
    counts by the wrong rank or per tried child. At each rank, the rates at 1,500 positions and
    those counted at about 1,000 nodes must differ by less than 5.5 standard errors of a count."""
    pair = tiny_pair()
    params = replace(WARM, max_new_tokens=300)
    prompts = [f"def f{i}(x):" for i in range(5)]
    forced = teacher_forced_acceptance(pair, prompts, params, ranks=4)
    counted = count_acceptance(pair, prompts, params, ranks=4)
    assert forced.visited == 1500
    for one, other in zip(forced.acceptance.rates, counted.acceptance.rates, strict=True):
        error = math.sqrt(one * (1 - one) / forced.visited + other * (1 - other) / counted.visited)
        assert abs(one - other) < 5.5 * error + 1e-9
    assert 0.1 < forced.acceptance.rates[0] < 0.9


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(BadTree, match=r"ranks: 289 is not a whole number from 1 to 288"):
        teacher_forced_acceptance(tiny_pair(), PROMPTS, WARM, ranks=289)


def test_agreement_is_the_mass_shared_by_both_distributions_after_every_token() -> None:
    pair = tiny_pair()
    ids = pair.encode(PROMPTS[0])
    shared = []
    for end in range(1, len(ids) + 1):
        p, q = (own_logits(model, ids[:end]).softmax(-1) for model in (pair.target, pair.draft))
        shared.append(float(p.minimum(q).sum()))
    assert 0.1 < agreement(pair, [PROMPTS[0]]) < 0.99
    assert agreement(pair, [PROMPTS[0]]) == pytest.approx(sum(shared) / len(shared), rel=1e-3)
    assert agreement(replace(pair, draft=pair.target), [PROMPTS[0]]) == pytest.approx(1, abs=1e-6)
