"""The distributions of both models at each place of a text. The acceptance of children drawn there,
averaged over texts, must be close to the rates that decoding counts. (For single places, the
guarantees compare the probabilities with exact ones.)

One test compares two random measurements. Its seeds are fixed. With other seeds, it would fail by
chance less than once in a million runs.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.decoding.engine import plain
from sequoia.measuring import acceptance_teacher_forced
from sequoia.measuring.acceptance_teacher_forced import agreement, text_places
from sequoia.measuring.counted_acceptance import count_acceptance
from sequoia.models.compare_logits import own_logits

WARM = SamplingParams(temperature=0.8, max_new_tokens=300, ignore_eos=True)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_each_place_has_the_distributions_after_the_text_before_it(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """The expected tokens are those of the bare `transformers` models."""
    monkeypatch.setattr(acceptance_teacher_forced, "BLOCK", block)
    pair = tiny_pair()
    ids = pair.encode(PROMPTS[0])
    with torch.inference_mode():
        best = [
            model.hf(input_ids=torch.tensor([ids])).logits[0].argmax(-1).tolist()
            for model in (pair.target, pair.draft)
        ]
    found = [*text_places(pair, ids[:2], ids[2:], SamplingParams())]
    assert [place.token for place in found] == list(ids[2:])
    assert [place.p.argmax() for place in found] == best[0][1:-1]
    assert [place.q.argmax() for place in found] == best[1][1:-1]


def test_probabilities_along_texts_agree_with_counts_from_decoding() -> None:
    """Guards against distributions or draws of siblings that differ from the decoder's, and against
    counts by the wrong rank or per tried child. At each rank, the rates at 1,500 positions and
    those counted at about 1,000 nodes must differ by less than 5.5 standard errors of a count."""
    pair = tiny_pair()
    prompts = [f"def f{i}(x):" for i in range(5)]
    found = []
    for i, prompt in enumerate(prompts):
        params = WARM.further(i)
        text = emitted_tokens(plain(pair, prompt, params))
        chance = chance_for(params.temperature, params.seed)
        places = text_places(pair, pair.encode(prompt), text, params)
        found += [place.chances(SEQUOIA, 4, chance) for place in places]
    counted = count_acceptance(pair, prompts, WARM, ranks=4)
    assert len(found) == 1500
    for one, other in zip(sum(found) / 1500, counted.acceptance.rates, strict=True):
        error = math.sqrt(one * (1 - one) / 1500 + other * (1 - other) / counted.visited)
        assert abs(one - other) < 5.5 * error + 1e-9
    assert 0.1 < counted.acceptance.rates[0] < 0.9


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
