"""The checks of a model find planted faults in every dtype, and neither refuse a right model nor
reject its faster forward."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from checked_models import BUNDLED, DTYPES, ROUTED, is_accepted, planted, text_of
from doors import (
    KINDS,
    BadModel,
    TreeModel,
    check_at_load,
    check_frequencies,
    model,
    of_transformers,
    rotary_modules,
    tiny_model,
    without_haste,
)
from planted_faults import FAST_FAULTS, FAULTS
from transformers import BertConfig, BertLMHeadModel

TEXTS = 50
# the toys that are tested in each run; all others are nightly
USUAL = ("gpt2", "huge")


@pytest.fixture(autouse=True)
def _all_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow this machine is at present, all tokens are changed."""
    without_haste(monkeypatch)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name",
    [
        *USUAL,
        *(
            pytest.param(one, marks=pytest.mark.nightly)
            for one in (*KINDS, *ROUTED, *BUNDLED)
            if one not in USUAL
        ),
    ],
)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(
    fault: str, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadModel, match="cannot run a tree"):
        check_at_load(planted(FAULTS[fault], name, dtype, monkeypatch), text_of(name, 0))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "huge", BUNDLED[0]])
@pytest.mark.parametrize("fault", FAST_FAULTS)
def test_a_fault_of_the_faster_forward_is_found(
    fault: str, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planted(FAST_FAULTS[fault], name, dtype, monkeypatch).no_fast_forward


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("change", [torch.Tensor.bfloat16, lambda table: table * 1.01])
@pytest.mark.parametrize("name", ["llama", "gpt_neox"])
def test_wrong_rotary_frequencies_are_refused_when_the_weights_are_read(
    name: str, change: Any, dtype: str
) -> None:
    """Both passes that the self-test compares would use them."""
    hf = tiny_model(name)
    hf.to(getattr(torch, dtype))
    for _, module in rotary_modules(hf):
        module.inv_freq = change(type(module)(module.config).inv_freq).float()
    with pytest.raises(BadModel, match="rotary frequencies"):
        check_frequencies(hf, name)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", USUAL)
def test_a_right_model_is_accepted_with_its_faster_forward(name: str, dtype: str) -> None:
    assert is_accepted(name, dtype, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*KINDS, "huge", *ROUTED, *BUNDLED])
def test_a_right_model_is_accepted_with_each_text(name: str, dtype: str) -> None:
    assert all(is_accepted(name, dtype, seed) for seed in range(TEXTS))


# -- models that cannot run a tree -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("kind", KINDS)
def test_the_self_test_accepts_the_five_classes(kind: str, dtype: torch.dtype) -> None:
    """The model classes of KINDS in fakes.py."""
    check_at_load(model(kind, dtype))


def broken(**changes: object) -> TreeModel:
    """A model whose forward gets changed arguments."""
    hf = tiny_model()
    forward = hf.forward

    def changed(**given: object) -> object:
        return forward(
            **{
                name: changes[name](value) if name in changes else value
                for name, value in given.items()
            }
        )

    hf.forward = changed
    return of_transformers(hf, "broken")


def row_by_row(positions: torch.Tensor) -> torch.Tensor:
    """Consecutive positions, as in models that count positions themselves."""
    return positions[:, :1] + torch.arange(positions.shape[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"attention_mask": torch.zeros_like},
        {"attention_mask": lambda mask: None},
        {"attention_mask": lambda mask: causal(mask)},
        {"position_ids": row_by_row},
        {"position_ids": torch.zeros_like},
    ],
    ids=["sees all", "no mask", "causal mask", "positions by row", "no positions"],
)
def test_the_self_test_refuses_a_model_that_changes_its_mask_or_positions(changes: dict) -> None:
    with pytest.raises(BadModel, match="cannot run a tree"):
        check_at_load(broken(**changes))


def causal(mask: torch.Tensor) -> torch.Tensor:
    rows, columns = mask.shape[-2:]
    seen = torch.ones(rows, columns).tril(columns - rows).bool()
    return torch.zeros(rows, columns).masked_fill(~seen, torch.finfo(mask.dtype).min)[None, None]


@pytest.mark.parametrize("call", range(1, 6))
def test_the_self_test_refuses_a_model_whose_logits_are_nan(call: int) -> None:
    """At the start of a text, the self-test makes six passes and compares the logits of all but the
    first. Here one of these five passes gives NaN. NaN compares false with everything, so Python's
    max may miss it."""
    hf = tiny_model()
    calls = itertools.count()
    forward = hf.forward

    def failing(**given: object) -> object:
        result = forward(**given)
        if next(calls) == call:
            result.logits.fill_(torch.nan)
        return result

    hf.forward = failing
    with pytest.raises(BadModel, match=r"cannot run a tree: its logits are NaN or infinite"):
        check_at_load(of_transformers(hf, "broken"))


def test_the_self_test_refuses_a_model_that_sees_ahead() -> None:
    """BERT loads as a causal model, but lets tokens attend to later tokens. Our mask prevents that.
    The self-test also runs the model without our mask, and those logits differ."""
    config = BertConfig(
        vocab_size=288,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        bert = BertLMHeadModel(config)
        for weight in bert.parameters():
            weight.normal_(std=0.3)
    with pytest.raises(BadModel, match="cannot run a tree"):
        check_at_load(of_transformers(bert, "bert"))


def test_the_message_of_the_self_test_names_the_model_the_value_and_the_bound() -> None:
    with pytest.raises(
        BadModel,
        match=r"broken cannot run a tree: .* by [\d.e+-]+ standard deviations; the limit is 0.001",
    ):
        check_at_load(broken(position_ids=row_by_row))


def test_the_self_test_leaves_the_model_unchanged() -> None:
    tiny = model()
    before = {name: weight.clone() for name, weight in tiny.hf.state_dict().items()}
    check_at_load(tiny)
    assert all(torch.equal(weight, before[name]) for name, weight in tiny.hf.state_dict().items())
    assert not tiny.hf.training
