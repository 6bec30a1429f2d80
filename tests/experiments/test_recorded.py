"""The shipped results are complete, and were made with the program's present settings, except for
the number of prompts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sequoia.assets_folder import ASSETS
from sequoia.experiments.budget import OURS, SHAPES
from sequoia.experiments.experiment import units
from sequoia.experiments.result import ExperimentResult, score
from sequoia.experiments.runner import EXPERIMENTS

FILES = sorted((ASSETS / "experiments").rglob("*.json"))
MOST_BYTES = 160_000


def recorded(name: str) -> ExperimentResult:
    return ExperimentResult.from_json((ASSETS / "experiments" / f"{name}.json").read_bytes())


def test_every_experiment_has_a_result() -> None:
    assert {file.stem for file in FILES} == EXPERIMENTS.keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: "-".join(file.parts[-2:]))
def test_a_recorded_result_is_complete_and_has_the_present_settings(file: Path) -> None:
    assert file.stat().st_size <= MOST_BYTES
    result = ExperimentResult.from_json(file.read_bytes())
    experiment = EXPERIMENTS[file.stem]
    assert result.is_complete
    assert result.total == len(units(result.settings))
    full = experiment.sizes["full"]
    assert {**result.settings, "prompts": 0} == {**full, "prompts": 0}
    assert (result.name, result.label) == (experiment.name, "recorded")
    assert all(one.ratio.low is not None for one in result.ratios)
    assert all(experiment.compared in row.figures for row in result.rows)
    assert not re.search(r"/tmp|/home|/root|/work", file.read_text(encoding="utf-8"))


def test_no_other_shape_clearly_emits_more_tokens_per_step_than_the_planned_tree() -> None:
    ratios = recorded("budget").ratios
    assert len(ratios) == 6 * 6 * 4  # panels, budgets, other shapes
    assert {(one.one, one.other) for one in ratios} == {
        (OURS, one) for one in SHAPES if one != OURS
    }
    assert score(ratios).lower == 0
