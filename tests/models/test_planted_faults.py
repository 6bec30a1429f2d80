"""The checks of a model find planted faults in every dtype, and neither refuse a right model nor
reject its faster forward."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from checked_models import BUNDLED, DTYPES, ROUTED, is_accepted, planted, text_of
from fakes import KINDS, tiny_model
from planted_faults import FAST_FAULTS, FAULTS

from sequoia.errors import BadModel
from sequoia.loading.weights.rotary_frequencies import check_frequencies, rotary_modules
from sequoia.models.self_test import self_test

TEXTS = 50
# the toys that are tested in each run; all others are nightly
USUAL = ("gpt2", "huge")


@pytest.fixture(autouse=True)
def _all_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow this machine is at present, all tokens are changed."""
    monkeypatch.setattr("sequoia.models.self_test.SECONDS", 60.0)


@pytest.mark.slow
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
        self_test(planted(FAULTS[fault], name, dtype, monkeypatch), text_of(name, 0))


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", USUAL)
def test_a_right_model_is_accepted_with_its_faster_forward(name: str, dtype: str) -> None:
    assert is_accepted(name, dtype, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*KINDS, "huge", *ROUTED, *BUNDLED])
def test_a_right_model_is_accepted_with_each_text(name: str, dtype: str) -> None:
    assert all(is_accepted(name, dtype, seed) for seed in range(TEXTS))
