"""Weights that are NaN or infinite are found wherever they are, and named."""

from __future__ import annotations

import pytest
import torch
from fakes import tiny_model

from sequoia.errors import BadModel
from sequoia.loading.read_weights import refuse_not_finite


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
