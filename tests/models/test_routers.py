"""Detecting whether a model has experts. Its modules decide, because what a config says about
experts can mislead."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import KINDS, tiny_model
from toy_models import LAYERS, random_model, toy_config
from toy_variants import condition

from sequoia.models.self_test import has_router, self_test
from sequoia.models.tree_forward import TreeModel


def toy(kind: str, **changes: Any) -> TreeModel:
    return TreeModel(random_model(toy_config(kind, condition(kind)[1] | changes)), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dense_model_has_no_router(kind: str) -> None:
    assert not has_router(TreeModel(tiny_model(kind), kind))


@pytest.mark.parametrize("kind", ["mixtral", "deepseek_v3", "gpt_oss", "dbrx"])
def test_a_mixture_of_experts_has_a_router(kind: str) -> None:
    assert has_router(toy(kind))


def test_a_config_with_fields_for_experts_does_not_imply_a_router() -> None:
    """Both configs have fields for experts, but no layer has a router."""
    assert not has_router(toy("lfm2_moe", num_dense_layers=LAYERS))
    assert not has_router(toy("gemma4_text"))


@pytest.mark.parametrize("kind", ["mixtral", "dbrx", "lfm2_moe"])
def test_a_mixture_of_experts_passes_the_self_test(kind: str) -> None:
    """Rounding can make a router select another expert, so rows need not keep all their bits."""
    self_test(TreeModel(toy(kind).hf.bfloat16(), kind))
