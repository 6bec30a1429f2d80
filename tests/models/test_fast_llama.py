"""The fast forward against the forward of `transformers` that it replaces."""

from __future__ import annotations

import pytest
import torch
from fakes import tiny_model

from sequoia.models import layers
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.packed_llama import fast_forward
from sequoia.models.tree_forward import TreeModel


@pytest.mark.parametrize("kind", ["gpt2", "gpt_neox"])
def test_other_families_keep_their_own_forward(kind: str) -> None:
    model = use_fast_forward(TreeModel(tiny_model(kind), kind))
    assert model.forward_name == "transformers"
    assert model.no_fast_forward == ""


def test_float64_keeps_its_own_forward() -> None:
    """The fast forward's residual stream is float32 and would lose the precision of float64."""
    assert fast_forward(tiny_model("llama").double()) is None


def test_a_fast_forward_that_fails_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of a supported family may be built differently. It then keeps its own forward and is
    not refused."""

    def broken(*_: object) -> torch.Tensor:
        raise RuntimeError("other shapes")

    monkeypatch.setattr("sequoia.models.packed_llama._rotate", broken)
    model = use_fast_forward(TreeModel(tiny_model("llama"), "llama"))
    assert model.forward_name == "transformers"
    assert model.no_fast_forward == "RuntimeError: other shapes"


def test_a_large_model_in_bfloat16_gets_the_fast_forward(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its first layers are compared in float32."""
    monkeypatch.setenv("SEQUOIA_NATIVE", "off")
    monkeypatch.setattr(layers, "_FEW", 1000)
    hf = tiny_model("llama", layers=4).bfloat16()
    model = use_fast_forward(TreeModel(hf, "llama"))
    assert (model.forward_name, model.no_fast_forward) == ("fast", "")
