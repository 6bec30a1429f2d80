"""The test of model types: its variants, and the faults it finds.

All types together take many minutes: `pytest -m nightly tests/loading/test_model_types.py`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import model_types
import pytest
import torch
from model_types import faults, outcomes, try_config
from toy_models import kinds
from toy_variants import condition

from sequoia.models.tree_forward import TreeModel

SOME = (
    "llama",
    "qwen3_moe",
    "gpt2",
    "gptj",
    "falcon",
    "opt",
    "phi",
    "deepseek_v3",
    "bert",
    "gemma2",
)


@pytest.mark.parametrize("kind", SOME)
def test_a_type_of_each_sort_runs(kind: str, tmp_path: Path) -> None:
    """The nightly test runs all types with all variants."""
    found = try_config(kind, condition(kind)[1], tmp_path)
    assert (found.status, found.words) == ("runs", "")
    assert found.distance < model_types.TOLERANCE
    assert found.accepted > 3


@pytest.mark.nightly
@pytest.mark.parametrize("kind", kinds())
def test_every_variant_of_every_type_runs_or_is_refused_with_a_reason(kind: str) -> None:
    assert not faults(outcomes(kind))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("cohere2", "has layers of type “sliding_attention”"),
        ("bart", "is an encoder-decoder"),
        ("bert", "is an encoder"),
        ("bloom", "derives positions from the order of tokens (ALiBi)"),
        ("gpt_neo", "has layers of local attention"),
        ("rwkv", "has no attention heads"),
        ("xlm", "builds its own attention mask"),
    ],
)
def test_a_type_that_cannot_run_is_refused_by_its_config(
    kind: str, words: str, tmp_path: Path
) -> None:
    found = try_config(kind, {}, tmp_path)
    assert (found.status, found.words.startswith(words)) == ("refused", True)


# -- outcomes --------------------------------------------------------------------------------------


def test_a_tree_without_its_attention_mask_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = TreeModel.__init__

    def without_mask(self: TreeModel, hf: Any, *rest: Any, **named: Any) -> None:
        usual(self, hf, *rest, **named)
        run = self.forward
        self.forward = lambda ids, positions, mask, *others: run(
            ids, positions, torch.zeros_like(mask), *others
        )

    monkeypatch.setattr("sequoia.models.choose_forward.self_test", lambda *_: None)
    monkeypatch.setattr("sequoia.models.choose_forward.fast_forward", lambda *_: None)
    monkeypatch.setattr(TreeModel, "__init__", without_mask)
    assert try_config("llama", {}, tmp_path).status == "differs"


@pytest.mark.parametrize(
    ("off", "words"), [([1e-6, 3e-4], "0.0003"), ([1e-6, math.nan, 1e-6], "nan")]
)
def test_logits_that_are_slightly_wrong_differ(
    off: list[float], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if every token is right."""
    monkeypatch.setattr(model_types, "distances", lambda *_: off)
    found = try_config("llama", {}, tmp_path)
    assert (found.status, found.words) == ("differs", f"logits off by {words} standard deviations")
