"""Loaded models have the rotary frequencies that `transformers` alone gives them: in float32,
whatever the dtype of the weights.

If the frequencies are rounded to bfloat16, phases shift, and more so the further two tokens are
apart. Comparing two passes of one loaded model cannot detect that, because both use the same
frequencies. So the loaded models are compared with one that `transformers` alone loads, at a
position far from the first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import torch
from fake_gpus import LAYERS, fake_two_gpus
from fakes import save
from toy_models import random_model, toy_config
from transformers import AutoModelForCausalLM

from sequoia.loading.load import load_pair
from sequoia.models.compare_logits import own_logits
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.dtypes import narrowest_dtype

CONTEXT = 1024
FAR = 1000
# by default, weights are in bfloat16 only on a CPU that computes with it
BY_DEFAULT = narrowest_dtype(torch.device("cpu")) == torch.bfloat16
WAYS = ["auto"] * BY_DEFAULT + ["bfloat16", "offload", "spread"]
TEXT = [1 + i * i % 251 for i in range(FAR + 1)]
ROPE = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 256,
}


def written(folder: Path) -> str:
    """The folder of a random model."""
    sizes = {"num_hidden_layers": LAYERS, "max_position_embeddings": CONTEXT}
    return save(random_model(toy_config("llama", {**sizes, "rope_parameters": ROPE})), folder)


@torch.inference_mode()
def logits(hf: Any) -> torch.Tensor:
    """(vocab,) after TEXT, from the model's own forward without any cache."""
    return (
        hf(input_ids=torch.tensor([TEXT]), use_cache=False, logits_to_keep=1).logits[0, -1].double()
    )


def differences(
    mine: Iterable[tuple[str, torch.Tensor]], its: Iterable[tuple[str, torch.Tensor]]
) -> list[str]:
    """Names of tensors that only one of the two has, or whose type or values differ."""
    mine = dict(mine)
    its = dict(its)
    both = mine.keys() & its.keys()
    other = [
        name
        for name in both
        if mine[name].dtype != its[name].dtype or not torch.equal(mine[name], its[name])
    ]
    return sorted([*(mine.keys() ^ its.keys()), *other])


def loaded(how: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> TreeModel:
    """The target in bfloat16. how: the way to load it, one of WAYS."""
    options = {
        "auto": {"dtype": "auto"},
        "bfloat16": {},
        "offload": {"offload": 1},
        "spread": {"device": "spread"},
    }[how]
    with monkeypatch.context() as patch:
        if how == "spread":
            fake_two_gpus(["cpu"] * LAYERS, patch)
        return load_pair(
            target=folder, draft=folder, **{"device": "cpu", "dtype": "bfloat16", **options}
        ).target


def test_every_way_of_loading_gives_what_transformers_alone_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same numbers in the same types, and the same logits to the last bit. With our cache and
    forward, the logits are about as close to the float32 logits as those of `transformers` are."""
    folder = written(tmp_path / "m")
    reference = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.bfloat16, attn_implementation="sdpa"
    ).eval()
    expected = logits(reference)
    exact = logits(copy.deepcopy(reference).float())
    for how in WAYS:
        model = loaded(how, folder, monkeypatch)
        assert model.numbers == "bfloat16"
        assert differences(model.hf.named_buffers(), reference.named_buffers()) == []
        assert differences(model.hf.named_parameters(), reference.named_parameters()) == []
        assert torch.equal(own_logits(model, TEXT), expected)
        decoded = model.open(len(TEXT)).extend(TEXT).double()
        assert (decoded - exact).abs().mean() <= 1.2 * (expected - exact).abs().mean()
