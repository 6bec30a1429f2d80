"""Loaded models have the rotary frequencies that `transformers` alone gives them: in float32,
whatever the dtype of the weights.

If the frequencies are rounded to bfloat16, phases shift, and more so the further two tokens are
apart. Comparing two passes of one loaded model cannot detect that, because both use the same
frequencies. So the loaded models are compared with one that `transformers` alone loads, at a
position far from the first.
"""

from __future__ import annotations

import copy
from pathlib import Path

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
    """The same frequencies, and the same logits to the last bit. With our cache and forward, the
    logits are about as close to the float32 logits as those of `transformers` are."""
    folder = written(tmp_path / "m")
    hf = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.bfloat16, attn_implementation="sdpa"
    )
    reference = TreeModel(hf, "reference")
    expected = own_logits(reference, TEXT)
    exact = own_logits(TreeModel(copy.deepcopy(hf).float(), "exact"), TEXT)
    for how in WAYS:
        model = loaded(how, folder, monkeypatch)
        assert model.numbers == "bfloat16"
        found = dict(model.hf.named_buffers())
        assert all(torch.equal(found[name], one) for name, one in hf.named_buffers())
        assert torch.equal(own_logits(model, TEXT), expected)
        decoded = model.open(len(TEXT)).extend(TEXT).double()
        assert (decoded - exact).abs().mean() <= 1.2 * (expected - exact).abs().mean()
