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
from model_types import Outcome, faults, outcomes, summary, try_config
from toy_models import kinds
from toy_variants import condition, variants

from sequoia.loading.model_families import ModelType, known_types
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


# -- variants --------------------------------------------------------------------------------------


def test_variants_follow_from_the_fields_of_the_config() -> None:
    ropes = {f"rope {name}" for name in ("linear", "dynamic", "yarn", "llama3", "longrope")}
    switches = {"attention_bias=True", "mlp_bias=True", "tie_word_embeddings=True"}
    assert set(variants("llama")) == {
        "base",
        "num_key_value_heads=1",
        "num_key_value_heads=4",
        *ropes,
        *switches,
    }
    assert {"parallel_attn=False", "new_decoder_architecture=True", "multi_query=False"} <= set(
        variants("falcon")
    )
    assert variants("gemma2")["factors"]["attn_logit_softcapping"] == 5.0


def test_a_type_with_sliding_windows_is_also_tested_with_full_attention() -> None:
    """Some layers of Gemma 2 have a sliding window. All its variants except "base" have full
    attention in every layer instead."""
    name, needed = condition("gemma2")
    assert (name, needed["layer_types"]) == (
        "full attention in every layer",
        ["full_attention"] * 2,
    )
    assert all(
        needed.items() <= changes.items()
        for one, changes in variants("gemma2").items()
        if one != "base"
    )
    assert condition("llama") == ("", {})
    assert condition("bert") == ("is_decoder=True", {"is_decoder": True})


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


def test_an_unexpected_exception_while_loading_is_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(**_: object) -> None:
        raise AttributeError("no such thing")

    monkeypatch.setattr(model_types, "load_pair", broken)
    found = try_config("llama", {}, tmp_path)
    assert (found.status, found.words) == ("crashed", "AttributeError: no such thing")


RUNS = Outcome("runs")
REFUSED = Outcome("refused", "has none")


@pytest.mark.parametrize(
    ("found", "name", "wanted"),
    [
        (
            {"base": RUNS, "x": REFUSED, "y": Outcome("no model", "?")},
            "",
            ModelType("t", "runs", without=(("x", "has none"),)),
        ),
        (
            {"base": REFUSED, "full": RUNS, "x": RUNS},
            "full",
            ModelType("t", "partly", "has none", "full"),
        ),
        ({"base": REFUSED, "full": REFUSED}, "full", ModelType("t", "refused", "has none")),
        ({"base": Outcome("no model", "E: 1")}, "", ModelType("t", "not built", "E: 1")),
    ],
    ids=["without", "partly", "refused", "not built"],
)
def test_outcomes_are_summed_up_as_a_line_of_the_list(
    found: dict[str, Outcome], name: str, wanted: ModelType
) -> None:
    assert summary("t", found, name) == wanted
