"""Weights that are NaN or infinite are found wherever they are, and named."""

from __future__ import annotations

import pytest
import torch
from fakes import KINDS, tiny_model

from sequoia.errors import BadModel
from sequoia.loading.read_weights import refuse_not_finite
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_one_nan_or_infinity_is_found_in_every_dtype(value: float, dtype: torch.dtype) -> None:
    model = tiny_model().to(dtype)
    refuse_not_finite(model, "m")
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight[63, 31] = value
    says = r"^m: model\.layers\.1\.mlp\.up_proj\.weight contains NaN or infinity"
    with pytest.raises(BadModel, match=says):
        refuse_not_finite(model, "m")


def test_numbers_too_large_for_float16_are_named_as_such() -> None:
    model = tiny_model()
    with torch.no_grad():
        model.lm_head.weight[5, 5] = 1e5
    refuse_not_finite(model, "m")
    with pytest.raises(
        BadModel, match="infinity in float16; its numbers may be too large for float16, so load"
    ):
        refuse_not_finite(model.to(torch.float16), "m")


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_is_checked(kind: str) -> None:
    model = tiny_model(kind)
    for weight in model.parameters():
        with torch.no_grad():
            before = weight.view(-1)[-1].clone()
            weight.view(-1)[-1] = float("nan")
            with pytest.raises(BadModel, match="NaN or infinity"):
                refuse_not_finite(model, "m")
            weight.view(-1)[-1] = before
    refuse_not_finite(model, "m")


def test_logits_that_overflow_are_reported() -> None:
    model = tiny_model()
    with torch.no_grad():
        model.model.layers[0].self_attn.q_proj.weight.fill_(3e38)
    refuse_not_finite(model, "m")
    with pytest.raises(
        BadModel, match="m cannot run a tree: its logits are NaN or infinite, so its weights or"
    ):
        self_test(TreeModel(model, "m"))
