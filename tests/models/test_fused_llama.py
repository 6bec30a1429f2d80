"""The fused forward against the forward of `transformers` that it replaces. Without a GPU, Triton's
interpreter runs its kernels on the CPU; the test marked `gpu` runs them compiled."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from counting_capture import CountingCapture
from fakes import tiny_model

from sequoia.algorithm.tree import Tree
from sequoia.models import choose_forward, self_test
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.choose_forward import fused_forward, use_fast_forward
from sequoia.models.compare_logits import EXACT, SampleText, Walk, distances, wider
from sequoia.models.cuda_graphs import Forward
from sequoia.models.packed_llama import FAMILIES
from sequoia.models.tree_forward import TreeModel

kernels = pytest.importorskip(
    "sequoia.models.fused.kernels", reason="there is no Triton for this system"
)

TREE = Tree((-1, 0, 0, 1, 1, 2))
WALK = Walk(4, TREE, 5)
CONTEXT = 16  # so short that a model is tested at load with few rows
FUSED = "this program's fused kernels, as CUDA graphs"


def model_of(family: str, dtype: torch.dtype = torch.float32, layers: int = 2) -> TreeModel:
    """A model whose heads do not fill the blocks of the kernels."""
    hf = tiny_model(family, context=CONTEXT, layers=layers, head_dim=12)
    return TreeModel(hf.to(dtype), family)


def fused(model: TreeModel) -> Forward:
    found = fused_forward(model.hf)
    assert found is not None
    return found


def rows(model: TreeModel) -> torch.Tensor:
    """The logits of a prefix, of two trees and of one token."""
    return WALK.logits(model, tokens(model))


def bare_rows(model: TreeModel) -> torch.Tensor:
    return WALK.bare_logits(model, tokens(model))


def tokens(model: TreeModel) -> list[int]:
    return WALK.tokens(SampleText((), model.vocab).piece(WALK.places, 0))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_logits_are_those_of_transformers(family: str) -> None:
    model = model_of(family)
    expected = bare_rows(model)
    assert distances(rows(model.with_forward(fused(model))), expected).max() <= EXACT


@pytest.mark.parametrize("family", FAMILIES)
def test_the_logits_in_bfloat16_are_as_near_to_float32(family: str) -> None:
    """Although Triton's interpreter cuts numbers off where a card rounds them."""
    model = model_of(family, torch.bfloat16)
    usual = bare_rows(model)
    expected = bare_rows(wider(model))
    forward = fused(model)
    assert distances(rows(wider(model, forward)), expected).max() <= EXACT
    far, near = (
        distances(one, expected).median() for one in (rows(model.with_forward(forward)), usual)
    )
    assert 0 < far <= self_test.FASTER * near


@pytest.mark.parametrize("family", FAMILIES)
def test_the_cache_gets_the_keys_and_values_of_transformers_and_nothing_else(family: str) -> None:
    model = model_of(family)
    contexts = [one.open(CONTEXT) for one in (model, model.with_forward(fused(model)))]
    for context in contexts:
        context.extend([5, 6, 7])
        context.forward([1, 2, 3, 4, 5, 6], TreeLayout(context, TREE))
    for usual, ours in zip(*(one.kv_cache.memory for one in contexts), strict=True):
        assert usual[..., :9, :].all()
        assert torch.allclose(usual, ours, atol=1e-5)


def test_no_weight_is_in_memory_twice() -> None:
    """The bias, too, becomes part of the merged one."""
    model = model_of("qwen2")
    usual = bare_rows(model)
    before = sum(one.numel() for one in model.hf.parameters())
    forward: Any = fused(model)
    merged = [one for layer in forward._layers for one in (*layer._qkv, layer._gate_up[0])]
    storages = {
        one.untyped_storage().data_ptr(): one.untyped_storage().nbytes()
        for one in (*model.hf.parameters(), *merged)
    }
    assert sum(storages.values()) == before * model.dtype.itemsize
    assert torch.equal(bare_rows(model), usual)


def test_other_models_keep_their_own_forward() -> None:
    """The residual stream is float32 and would lose the precision of float64."""
    assert fused_forward(tiny_model("gpt_neox")) is None
    assert fused_forward(tiny_model("llama").double()) is None


# -- chosen at load --------------------------------------------------------------------------------


@pytest.fixture
def on_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models look for a faster forward as if on a card."""
    monkeypatch.setattr(TreeModel, "may_use_graphs", True)
    monkeypatch.setattr(choose_forward, "CudaCapture", lambda _: CountingCapture())
    monkeypatch.setattr(self_test, "SECONDS", 0)


@pytest.mark.usefixtures("on_a_card")
def test_it_is_used_as_cuda_graphs_if_it_passes_the_self_test() -> None:
    model = use_fast_forward(model_of("qwen3", torch.bfloat16, layers=1))
    assert model.forward_name == FUSED
    assert (model.no_fast_forward, model.not_the_fastest) == ("", "")


@pytest.mark.usefixtures("on_a_card")
def test_a_kernel_that_raises_leaves_the_graphs_of_transformers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class CompilationError(Exception):
        """Triton's own errors are no RuntimeErrors."""

    def broken(*_: object) -> None:
        raise CompilationError("an old card")

    monkeypatch.setattr("sequoia.models.fused.fused_llama.silu_times", broken)
    model = use_fast_forward(model_of("llama", layers=1))
    assert model.forward_name == "transformers, as CUDA graphs"
    assert model.not_the_fastest == "CompilationError: an old card"


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_used_on_a_gpu(family: str, dtype: torch.dtype) -> None:
    """With compiled kernels and real graphs, captured at several prefixes."""
    hf = tiny_model(family, context=2048, head_dim=24).to("cuda", dtype)
    model = use_fast_forward(TreeModel(hf, family))
    assert (model.forward_name, model.not_the_fastest) == (FUSED, "")
