"""Temperature and top-p give the same distributions as a simple reference in Python floats. At
temperature 0, the target's rows are one-hot. Top-p removes no token from a draft distribution."""

from __future__ import annotations

import math
import random

import pytest
import torch

from sequoia.algorithm import distributions
from sequoia.algorithm.distributions import cut, draft_rows, draft_warp, row_warp, target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadModel


def some_logits(rows: int, vocab: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    rng = random.Random(rows * vocab)
    # (rows, vocab)
    return torch.tensor([[rng.gauss(0, 2) for _ in range(vocab)] for _ in range(rows)], dtype=dtype)


def reference(logits: list[float], temperature: float, top_p: float) -> list[float]:
    """softmax(logits / temperature), cut to the most probable tokens that together reach top_p, and
    renormalised."""
    powers = [math.exp((logit - max(logits)) / temperature) for logit in logits]
    probs = [power / math.fsum(powers) for power in powers]
    kept: list[int] = []
    for token in sorted(range(len(probs)), key=lambda token: -probs[token]):
        kept.append(token)
        if top_p < 1 and math.fsum(probs[token] for token in kept) >= top_p:
            break
    mass = math.fsum(probs[token] for token in kept)
    return [probs[token] / mass if token in kept else 0.0 for token in range(len(probs))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.4, 0.01])
def test_target_equals_the_reference(dtype: torch.dtype, temperature: float, top_p: float) -> None:
    """The rows are float64 for logits of any type. bf16 logits are coarse but exact numbers, so
    they need no larger tolerance."""
    logits = some_logits(5, 30, dtype)
    found = target_rows(logits, SamplingParams(temperature=temperature, top_p=top_p))
    assert found.dtype == torch.float64
    expected = torch.tensor(
        [reference(row, temperature, top_p) for row in logits.double().tolist()],
        dtype=torch.float64,
    )
    assert (found - expected).abs().max() < 1e-14


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("top_p", [1.0, 0.9, 0.4])
def test_draft_equals_the_reference_but_has_every_token(dtype: torch.dtype, top_p: float) -> None:
    """Every token keeps some probability. Otherwise, if a node had more children than the nucleus
    has tokens, the surplus children would be drawn uniformly."""
    logits = some_logits(5, 30, dtype)
    found = draft_rows(logits, SamplingParams(temperature=0.7, top_p=top_p))
    expected = torch.tensor([reference(row, 0.7, top_p) for row in logits.double().tolist()])
    assert found.dtype == torch.float32
    assert (found > 0).all()
    assert (found - expected).abs().max() < 3e-6
    assert (found.double().sum(-1) - 1).abs().max() < 1e-6


def test_draft_at_temperature_zero_is_the_draft_at_one() -> None:
    """At temperature 0 only the order of the draft's tokens matters, and top-p must not remove any
    of them."""
    logits = some_logits(4, 20)
    assert torch.equal(
        draft_rows(logits, SamplingParams(temperature=0, top_p=0.3)),
        draft_rows(logits, SamplingParams(temperature=1)),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_temperature_zero_is_one_hot(dtype: torch.dtype) -> None:
    logits = some_logits(4, 20, dtype)
    found = target_rows(logits, SamplingParams(temperature=0, top_p=0.5))
    assert found.dtype == torch.float64
    assert found.sum(-1).tolist() == [1] * 4
    assert found.argmax(-1).tolist() == logits.argmax(-1).tolist()


@pytest.mark.parametrize("temperature", [5e-324, 1e-50, 1e-30, 1e-8])
@pytest.mark.parametrize("rows", [target_rows, draft_rows])
def test_tiny_temperatures_give_one_hot_rows(rows: object, temperature: float) -> None:
    """In float32, logits / 1e-50 are infinite, and infinity minus infinity is NaN."""
    logits = torch.tensor([[900.0, -900.0, 899.0, 0.0]])
    assert rows(logits, SamplingParams(temperature=temperature)).tolist() == [[1, 0, 0, 0]]


def test_tokens_of_logit_minus_infinity_have_probability_zero() -> None:
    logits = torch.tensor([[1.0, -math.inf, 0.5]])
    assert target_rows(logits, SamplingParams(temperature=1))[0, 1] == 0
    assert target_rows(logits, SamplingParams(temperature=1, top_p=0.9))[0, 1] == 0


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("temperature", [0, 1])
def test_overflowed_logits_are_rejected(bad: float, temperature: float) -> None:
    """argmax treats NaN as the largest number. At temperature 0, a model that returns NaN would
    emit tokens without an error."""
    with pytest.raises(BadModel, match="NaN or infinity"):
        target_rows(torch.tensor([[0.0, 1.0], [bad, 1.0]]), SamplingParams(temperature=temperature))
    with pytest.raises(BadModel, match="NaN or infinity"):
        target_rows(torch.tensor([[-math.inf, -math.inf]]), SamplingParams(temperature=temperature))
    for row in ([bad, 1.0], [1.0, bad], [-math.inf, -math.inf]):
        with pytest.raises(BadModel, match="the target's logits contain NaN or infinity"):
            row_warp(SamplingParams(temperature=temperature))(torch.tensor(row))


def test_a_near_tie_is_resolved_in_the_dtype_of_the_logits() -> None:
    logits = torch.tensor([1.0, 1.0 + 1e-9], dtype=torch.float64)
    assert (
        row_warp(SamplingParams())(logits).tolist()
        == target_rows(logits, SamplingParams()).tolist()
        == [0, 1]
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize(
    "params",
    [
        SamplingParams(temperature=0),
        SamplingParams(temperature=0.6),
        SamplingParams(temperature=1, top_p=0.7),
    ],
)
def test_a_single_row_equals_that_row_of_a_batch(
    params: SamplingParams, dtype: torch.dtype
) -> None:
    logits = torch.randn(6, 40, generator=torch.Generator().manual_seed(1), dtype=torch.float64).to(
        dtype
    )
    for row, distribution in zip(logits, target_rows(logits, params), strict=True):
        assert row_warp(params)(row).tolist() == pytest.approx(distribution.tolist(), abs=1e-15)


# -- top-p alone -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [
        (0.4, [0]),
        (0.5, [0]),
        (0.51, [0, 2]),
        (0.75, [0, 2]),
        (0.76, [0, 1, 2]),
        (0.875, [0, 1, 2]),
        (0.9, [0, 1, 2, 3]),
        (1.0, [0, 1, 2, 3]),
    ],
)
def test_nucleus_is_the_smallest_set_that_reaches_the_mass(top_p: float, kept: list[int]) -> None:
    """All probabilities are powers of two, so that rounding does not matter."""
    probs = torch.tensor([0.5, 0.125, 0.25, 0.125], dtype=torch.float64)
    found = cut(probs.clone(), top_p)
    assert found.nonzero().ravel().tolist() == kept
    assert found[kept].tolist() == pytest.approx(
        (probs[kept] / probs[kept].sum()).tolist(), abs=1e-15
    )


def test_nucleus_rows_are_independent() -> None:
    probs = torch.softmax(some_logits(6, 17), -1)
    together = cut(probs.clone().view(2, 3, 17), 0.7)
    for row, alone in zip(probs, together.view(6, 17)):
        assert torch.equal(cut(row.clone(), 0.7), alone)


@pytest.mark.parametrize("temperature", [0.6, 1.0])
def test_logits_are_not_changed(temperature: float) -> None:
    logits = some_logits(2, 9)
    before = logits.clone()
    draft_rows(logits, SamplingParams(temperature=temperature, top_p=0.5))
    target_rows(logits, SamplingParams(temperature=temperature, top_p=0.5))
    assert torch.equal(logits, before)


def cut_by_sorting(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """`cut` of one row (vocab,) , by its definition: sorted, then the mass is summed up."""
    ordered, tokens = probs.sort(descending=True, stable=True)
    count = int((ordered.cumsum(-1) < top_p).sum()) + 1
    kept = torch.zeros_like(probs)
    kept[tokens[:count]] = ordered[:count]
    return kept / kept.sum()


def rounded_distributions(scale: float) -> torch.Tensor:
    """(12, 3000) Distributions of bfloat16 logits: many tokens are equally probable, some at the
    edge of the nucleus. Rows 1 and 2 have very many equal tokens."""
    torch.manual_seed(3)
    logits = (torch.randn(12, 3000) * scale).bfloat16()
    logits[1] = logits[1].round()
    logits[2] = 0
    return torch.softmax(logits, -1, dtype=torch.float64)


# no token has a probability of 2, so that the rows are searched as on a GPU
@pytest.mark.parametrize(
    ("likely", "likeliest"), [(2, ()), (2, (0, 1)), (2, (0, 50, 700)), (1e-4, (256, 4096))]
)
@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("scale", [1.0, 4.0, 12.0])
def test_the_nucleus_is_that_of_a_sorted_row(
    scale: float,
    top_p: float,
    likely: float,
    likeliest: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distributions, "_LIKELY", likely)
    monkeypatch.setattr(distributions, "_LIKELIEST", likeliest)
    probs = rounded_distributions(scale)
    found = cut(probs.clone(), top_p)
    expected = torch.stack([cut_by_sorting(row, top_p) for row in probs])
    assert torch.equal(found > 0, expected > 0)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)


def test_a_share_of_each_row_is_not_cut() -> None:
    probs = torch.softmax(some_logits(6, 3000), -1)
    expected = 0.75 * cut(probs.clone(), 0.9) + 0.25 * probs
    torch.testing.assert_close(cut(probs.clone(), 0.9, 0.25), expected)


def test_a_row_of_nan_stays_nan() -> None:
    probs = rounded_distributions(12.0)
    probs[4] = math.nan
    is_nan = cut(probs, 0.9).isnan()
    assert is_nan.all(-1).tolist() == is_nan.any(-1).tolist() == [row == 4 for row in range(12)]


@pytest.mark.parametrize("temperature", [0.6, 1.0])
@pytest.mark.parametrize("top_p", [1.0, 0.9])
@pytest.mark.parametrize("vocab", [3, 1001, 151_936])
def test_probabilities_can_be_written_to_given_memory(
    vocab: int, top_p: float, temperature: float
) -> None:
    logits = some_logits(5, vocab).bfloat16()
    warp = draft_warp(SamplingParams(temperature=temperature, top_p=top_p))
    memory = torch.empty(7, vocab)
    found = warp(logits, memory[1:6])
    assert torch.equal(found, memory[1:6])
    assert torch.equal(found, warp(logits))


# -- overflow in the draft -------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_an_overflowed_draft_is_rejected(bad: float) -> None:
    """Without the check, tokens would be drawn from NaN, and the text would be meaningless."""
    with pytest.raises(BadModel, match="draft's logits"):
        draft_rows(torch.tensor([[0.0, bad, 1.0]]), SamplingParams(temperature=1.0))
