"""Teacher-forced acceptance adds up acceptance probabilities over the positions of a text. At each
position, their mean over all draws of siblings must equal the acceptance rates of `walk`
(verifiers/sequoia.py). Averaged over texts, they must be close to the rates that decoding counts.

One test compares two random measurements. Its seeds are fixed. With other seeds, it would fail by
chance less than once in a million runs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from exact import EXACT, Enumerator, distribution, table
from fakes import PROMPTS, hopeless_pair, same_pair, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import plain
from sequoia.errors import BadPrompt, BadTree
from sequoia.measuring import acceptance_teacher_forced
from sequoia.measuring.acceptance import count_acceptance
from sequoia.measuring.acceptance_teacher_forced import (
    agreement,
    sibling_rates,
    teacher_forced_acceptance,
)
from sequoia.models.compare_logits import own_logits

WARM = SamplingParams(temperature=0.8, max_new_tokens=40, ignore_eos=True)
GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)


# -- one position ----------------------------------------------------------------------------------


def accepted_rank(p: np.ndarray, q: np.ndarray, ranks: int, chance: Any) -> int:
    """The rank of the child that a decoding step accepts, or `ranks` if it accepts none."""
    verifier = EXACT["sequoia"]
    tokens = verifier.draw(chance, q[None], [ranks])[0]
    verdict = verifier.verify(
        Tree.from_branching([ranks]), (-1, *tokens), lambda _: p, lambda _: q, chance
    )
    return verdict.path[1] - 1 if len(verdict.path) > 1 else ranks


def expected_rates(p: np.ndarray, q: np.ndarray, ranks: int) -> list[Fraction]:
    """Mean of `sibling_rates` over all draws of siblings."""

    def drawn(chance: Enumerator) -> tuple[Fraction, ...]:
        return tuple(
            map(Fraction, sibling_rates(p, q, EXACT["sequoia"].draw(chance, q[None], [ranks])[0]))
        )

    return [
        sum(weight * rates[rank] for rates, weight in distribution(drawn).items())
        for rank in range(ranks)
    ]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(12))
def test_the_mean_over_draws_equals_the_acceptance_rates_of_walk(seed: int, ranks: int) -> None:
    """The rates are compared as exact fractions, for distributions over four tokens. Some tokens
    have probability zero."""
    p = table((seed, "p"), 4)(())
    q = table((seed, "q"), 4)(())
    real = distribution(lambda chance: accepted_rank(p, q, ranks, chance))
    assert expected_rates(p, q, ranks) == [real.get(rank, 0) for rank in range(ranks)]


def test_rates_by_hand() -> None:
    p, q = (
        np.array([Fraction(x, 10) for x in row], dtype=object) for row in ((2, 5, 3), (5, 3, 2))
    )
    # Token 0 is accepted with probability 2/5. If it is rejected, the target's residual is
    # (0, 2/3, 1/3), and the draft's distribution without token 0 is (0, 3/5, 2/5). So token 2 is
    # accepted with probability 5/6. If token 2 is rejected too, token 1 is certainly accepted.
    assert sibling_rates(p, q, (0, 2, 1)) == [Fraction(2, 5), Fraction(1, 2), Fraction(1, 10)]
    assert sibling_rates(p, q, (1, 0)) == [1, 0]


def test_a_draft_without_mass_left_continues_uniformly() -> None:
    """Guards against a division by zero: q has all its mass on token 0, and p has none there."""
    p = np.array([0.0, 0.5, 0.5])
    q = np.array([1.0, 0.0, 0.0])
    assert sibling_rates(p, q, (0, 2, 1)) == [0, 1, 0]


# -- texts -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_a_draft_with_the_targets_weights_is_always_right(temperature: float) -> None:
    found = teacher_forced_acceptance(
        same_pair(), PROMPTS, replace(WARM, temperature=temperature), ranks=4
    )
    assert found.accepted == pytest.approx((found.visited, 0, 0, 0), abs=1e-3)
    assert found.visited == 3 * 40


def test_a_hopeless_draft_is_never_right() -> None:
    found = teacher_forced_acceptance(hopeless_pair(), PROMPTS[:1], GREEDY, ranks=4)
    assert (found.accepted, found.visited) == ((0, 0, 0, 0), 40)


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


@pytest.mark.slow
def test_the_targets_own_text_is_the_one_it_decodes() -> None:
    """Guards against an off-by-one error at the end of the text. There must be one position for
    each decoded token, with the context from which that token was drawn."""
    pair = tiny_pair()
    made = [token for step in plain(pair, PROMPTS[1], WARM) for token in step.emitted]
    text, first, _ = acceptance_teacher_forced._text(pair, PROMPTS[1], WARM, True, lambda _: None)
    assert text[:first] == pair.encode(PROMPTS[1])
    assert text[first:] == tuple(made[:-1])
    assert teacher_forced_acceptance(pair, PROMPTS[1:2], WARM, ranks=2).visited == len(made) == 40


def test_repetition_is_that_of_the_decoded_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the repetition of all decoded tokens, including the last, without the prompt. If
    nothing is decoded (own=False), it is the repetition of the prompt."""
    seen = []
    monkeypatch.setattr(
        acceptance_teacher_forced, "repetition", lambda tokens: seen.append([*tokens]) or 0.25
    )
    pair = tiny_pair()
    made = [token for step in plain(pair, PROMPTS[0], GREEDY) for token in step.emitted]
    found = teacher_forced_acceptance(pair, PROMPTS[:1], GREEDY, ranks=2)
    teacher_forced_acceptance(pair, PROMPTS[:1], GREEDY, ranks=2, own=False)
    assert seen == [made, [*pair.encode(PROMPTS[0])]]
    assert found.repetition == 0.25


@pytest.mark.nightly
@pytest.mark.slow
def test_teacher_forced_rates_agree_with_counts_from_decoding() -> None:
    """Guards against distributions or draws of siblings that differ from the decoder's.

    Rates at 3,000 positions are compared with rates counted at about 2,000 nodes. At each rank they
    must differ by less than 5.5 standard errors. The standard error of a count is used for both,
    although that of a teacher-forced rate is smaller."""
    pair = tiny_pair()
    params = replace(WARM, max_new_tokens=300)
    prompts = [f"def f{i}(x):" for i in range(10)]
    forced = teacher_forced_acceptance(pair, prompts, params, ranks=4)
    counted = count_acceptance(pair, prompts, params, ranks=4)
    assert forced.visited == 3000
    for one, other in zip(forced.acceptance.rates, counted.acceptance.rates, strict=True):
        error = math.sqrt(one * (1 - one) / forced.visited + other * (1 - other) / counted.visited)
        assert abs(one - other) < 5.5 * error + 1e-9
    assert 0.1 < forced.acceptance.rates[0] < 0.9


@pytest.mark.slow
def test_rates_sum_to_at_most_1_and_lie_in_their_intervals() -> None:
    found = teacher_forced_acceptance(tiny_pair(), PROMPTS, WARM, ranks=8)
    rates = found.acceptance.rates
    assert sum(rates) <= 1
    assert all(
        low <= rate <= high for rate, (low, high) in zip(rates, found.intervals, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False])
def test_measuring_is_repeatable_and_reports_progress_at_every_position(own: bool) -> None:
    shares: list[float] = []
    once = teacher_forced_acceptance(tiny_pair(), PROMPTS, WARM, own=own, progress=shares.append)
    assert once == teacher_forced_acceptance(tiny_pair(), iter(PROMPTS), WARM, own=own)
    assert {1 / 3, 2 / 3, 1.0} <= set(shares)
    assert shares == sorted(shares)
    assert len(shares) >= once.visited


@pytest.mark.slow
def test_bad_arguments_are_refused() -> None:
    with pytest.raises(BadPrompt, match=r"0 prompts were given, at least 1"):
        teacher_forced_acceptance(tiny_pair(), [], WARM)
    with pytest.raises(BadPrompt, match=r"the prompt is empty"):
        teacher_forced_acceptance(tiny_pair(), [" "], WARM, own=False)
    with pytest.raises(BadTree, match=r"ranks: 289 is not a whole number from 1 to 288"):
        teacher_forced_acceptance(tiny_pair(), PROMPTS, WARM, ranks=289)
    with pytest.raises(BadTree, match=r"ranks: 0 "):
        teacher_forced_acceptance(tiny_pair(), PROMPTS, WARM, ranks=0)


# -- agreement -------------------------------------------------------------------------------------


@pytest.mark.slow
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


@pytest.mark.slow
def test_agreement_uses_the_latest_tokens_only(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = tiny_pair()
    monkeypatch.setattr(acceptance_teacher_forced, "LATEST", 5)
    latest = pair.tokenizer.decode(pair.encode(PROMPTS[0])[-5:])
    assert len(pair.encode(PROMPTS[0])) > len(pair.encode(latest)) == 5
    assert agreement(pair, [PROMPTS[0]]) == agreement(pair, [latest])


@pytest.mark.slow
def test_agreement_without_a_text_is_refused() -> None:
    with pytest.raises(BadPrompt, match="0 were given"):
        agreement(tiny_pair(), [])
