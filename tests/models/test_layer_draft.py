"""Drafts made of layers between the target's embedding, norm and head."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from exact import error, logits, over_torch, warped
from fakes import tree_logits
from toy_models import random_model, toy_config
from transformers import AutoModelForCausalLM

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.errors import BadModel
from sequoia.loading.layer_drafts import FREQUENT, FrequentHead, cut_config, cut_layers, layer_draft
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.rounded_copy import rounded_copy
from sequoia.models.tree_forward import TreeModel

FEW = torch.tensor([1, 2, 3, 40, 400])


@pytest.fixture(scope="module")
def target() -> Any:
    return AutoModelForCausalLM.from_pretrained(BUNDLED_PAIR / "target", dtype=torch.bfloat16)


def draft_of(target: Any, layers: list[int], frequent: torch.Tensor | None = None) -> Any:
    tensors = cut_layers(target, layers)
    if frequent is not None:
        tensors[FREQUENT] = frequent
    return layer_draft(target, cut_config(target.config, layers), tensors)


def after(model: Any, tokens: list[int]) -> torch.Tensor:
    return model(torch.tensor([tokens])).logits[0, -1]


def test_all_layers_give_the_targets_logits(target: Any) -> None:
    count = target.config.num_hidden_layers
    assert torch.equal(after(draft_of(target, [*range(count)]), [5, 6]), after(target, [5, 6]))
    assert not torch.equal(after(draft_of(target, [0, 1]), [5, 6]), after(target, [5, 6]))


def test_a_reduced_head_has_the_same_logits_for_its_tokens_only(target: Any) -> None:
    whole = after(draft_of(target, [0, 7]), [5, 6])
    found = after(draft_of(target, [0, 7], FEW), [5, 6])
    assert torch.equal(found[FEW], whole[FEW])
    assert found.shape == whole.shape
    assert found.isfinite().sum() == len(FEW)


@pytest.mark.parametrize("int8", [False, True])
def test_the_fast_forward_has_the_reduced_head(target: Any, int8: bool) -> None:
    hf = draft_of(target, [0, 7], FEW)
    hf = rounded_copy(hf, "int8", hf.device, shared=True) if int8 else hf
    model = use_fast_forward(TreeModel(hf, "draft"))
    assert model.forward_name != "transformers"
    assert model.vocab == target.config.vocab_size
    for found in tree_logits(model):
        assert found.isfinite().nonzero()[:, 0].tolist() == FEW.tolist()


def test_models_built_differently_are_refused() -> None:
    with pytest.raises(BadModel, match="not built like Llama"):
        layer_draft(random_model(toy_config("gpt2"), 0), None, {})


@pytest.mark.parametrize("name", list(VERIFIERS))
@pytest.mark.parametrize(("temperature", "top_p"), [(0.6, 1.0), (1.0, 0.9)])
@pytest.mark.parametrize("possible", [1, 2])
def test_output_is_exact_if_fewer_tokens_are_possible_than_a_node_has_children(
    name: str, temperature: float, top_p: float, possible: int
) -> None:
    head = FrequentHead(torch.nn.Linear(2, 4, bias=False), torch.arange(4 - possible, 4))
    for seed in range(3):
        p = warped(logits(("p", seed), 4), temperature, top_p)
        few = logits(("q", seed), possible)
        q = warped(
            lambda context, few=few: head.spread(few(context)), temperature, top_p, is_draft=True
        )
        for parents in ((-1, 0, 0, 0), (-1, 0, 0, 1, 1)):
            assert error(Tree(parents), over_torch(name), p, q) < 1e-6
