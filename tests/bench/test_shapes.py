"""Pairs of target and draft with random weights and the shapes of real models. They are timed and
the times written as profiles; models that are too large are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from sequoia import shapes
from sequoia.errors import OutOfMemory
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.named_profiles import named_profile
from sequoia.shapes import SHAPES, build, shape_file

CPU = torch.device("cpu")
PARAMETERS = {
    "Llama-2-7B": 6_738_415_616,
    "Qwen3-8B": 8_190_735_360,
    "Qwen3-0.6B": 596_049_920,
    "Qwen3-32B": 32_762_123_264,
    "Qwen3-4B": 4_022_468_096,
    "Qwen3-1.7B": 1_720_574_976,
    "llama-68m": 68_030_208,
}  # as published; tied weights count once


def test_shapes_have_as_many_parameters_as_the_models_they_are_named_after() -> None:
    shapes = [one for pair in SHAPES.values() for one in (pair.target, pair.draft)]
    with torch.device("meta"):
        found = {
            one.name: AutoModelForCausalLM.from_config(one.config(**one.config_values))
            for one in shapes
            if "tin" not in one.name
        }
    assert {name: model.num_parameters() for name, model in found.items()} == PARAMETERS


def test_weights_on_a_cpu_repeat_a_few_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would take a quarter of an hour to fill a model of 32 B parameters."""
    monkeypatch.setattr(shapes, "_DRAWN", 4000)
    weight = torch.full((300, 70), torch.nan)
    norm = torch.zeros(70)
    for one in (weight, norm):
        shapes._fill(one)
    assert float(weight.std()) == pytest.approx(0.02, rel=0.1)
    assert torch.equal(weight.view(-1)[:4000], weight.view(-1)[4000:8000])
    assert not torch.equal(weight[0], weight[1])
    assert (norm == 1).all()


@pytest.mark.nightly
def test_a_pair_is_measured_and_written_as_a_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shapes.main(["tiny", "--rounds", "1", "--out", str(tmp_path), "--device", "cpu"]) == 0
    text = (tmp_path / "tiny.json").read_text()
    profile = HardwareProfile.from_json(text)
    assert (profile.target, profile.draft, profile.source) == ("tiny", "tinier", "measured")
    assert [size for size, _, _ in profile.target_seconds] == [*shapes.ALL_SIZES]
    found = json.loads(text)["figures"]
    assert 0 < found["non-model share of a step, 128 nodes"] < 1
    assert found["512-node pass over a one-token pass"] == pytest.approx(
        profile.verify_seconds(512) / profile.verify_seconds(1)
    )
    assert "draft pass of one row" in capsys.readouterr().out


def test_without_graphs_the_forward_is_that_of_transformers() -> None:
    for graphs in (True, False):
        pair = build("tiny", CPU, graphs)
        for model in (pair.target, pair.draft):
            assert (model.forward_name == "transformers") != graphs
    profile = named_profile("rtx-4090-qwen3-8b")
    assert shape_file("x", profile, {"y": 1.0})["name"].endswith("x shape")
    data = shape_file("x", profile, {"y": 1.0}, graphs=False)
    assert data["name"].endswith("x shape, no CUDA graphs")
    assert HardwareProfile.from_dict(data).target_seconds == profile.target_seconds


def test_a_shape_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sequoia.this_machine.memory.free_bytes", lambda _: 10**6)
    with pytest.raises(
        OutOfMemory,
        match=r"Qwen3-32B with random weights needs about .* GB on cpu; 1\.0 MB is free",
    ):
        SHAPES["qwen3-32b"].target.build(CPU, torch.bfloat16)


def test_an_unknown_shape_is_refused_before_any_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = []
    monkeypatch.setattr(shapes, "_measure", lambda name, *_: measured.append(name))
    assert shapes.main(["tiny", "llama-9"]) == 2
    assert "unknown shape 'llama-9'; known: llama-2-7b" in capsys.readouterr().err
    assert measured == []
