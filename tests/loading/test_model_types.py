"""The test of model types: its variants, the faults it finds, and the bundled list of types.

All types together take many minutes: `pytest -m nightly tests/loading/test_model_types.py`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import model_types
import pytest
import torch
import transformers
from model_types import faults, outcomes, summary, try_config
from toy_models import kinds
from toy_variants import condition

from sequoia.loading.model_families import known_types
from sequoia.models.tree_forward import TreeModel

KNOWN = known_types()
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
@pytest.mark.parametrize("kind", [one.name for one in KNOWN.types])
def test_every_variant_of_every_type_runs_or_is_refused_with_a_reason(kind: str) -> None:
    found = outcomes(kind)
    assert not faults(found)
    assert summary(kind, found, condition(kind)[0]) in KNOWN.types


# -- the bundled list ------------------------------------------------------------------------------


def test_the_list_is_of_the_installed_version_and_has_every_type() -> None:
    assert KNOWN.transformers == transformers.__version__
    assert tuple(one.name for one in KNOWN.types) == kinds()


def test_every_type_that_does_not_run_has_a_reason() -> None:
    for one in KNOWN.types:
        assert bool(one.reason) == (one.result != "runs"), one.name
        assert bool(one.condition) == (one.result == "partly"), one.name
        assert all(why for _, why in one.without), one.name


def test_a_refused_config_gives_the_reason_of_the_list(tmp_path: Path) -> None:
    """The default configs of these types are refused before any weights are loaded. That is quick,
    so this test is not a nightly one."""
    for one in KNOWN.types:
        if "cannot run a tree" in one.reason or one.result not in ("refused", "partly"):
            continue
        found = try_config(one.name, {}, tmp_path / one.name)
        assert (found.status, found.words) == ("refused", one.reason)


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
