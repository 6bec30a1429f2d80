"""Toy-size pairs of any model type, with bfloat16 weights, made in memory without files."""

from __future__ import annotations

import copy
from typing import Any

import torch
from toy_models import noisy, random_model, toy_config, toy_tokenizer
from toy_variants import condition

from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel


def toy_pair(kind: str, seed: int = 0, **changes: Any) -> Pair:
    """A target of type `kind` with `changes` to its config, and a noisy copy of it as the draft."""
    target = random_model(toy_config(kind, condition(kind)[1] | changes), seed)
    draft = noisy(target, seed + 1)
    models = [use_fast_forward(TreeModel(_rounded(one), kind)) for one in (target, draft)]
    return Pair(kind, *models, toy_tokenizer())


def _rounded(model: Any) -> Any:
    """The model in bfloat16. It is built anew, because `model.to` would also round buffers that
    `transformers` keeps in float32, such as rotary frequencies."""
    made = type(model)._from_config(copy.deepcopy(model.config), dtype=torch.bfloat16)
    made.load_state_dict(model.state_dict())
    return made
