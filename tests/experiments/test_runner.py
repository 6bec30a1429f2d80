"""Runs of experiments: they stop, resume from the saved file even if its last line was cut off,
and start anew for another pair of models."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from sequoia.experiments.experiment import Done, Experiment, Unit
from sequoia.experiments.intervals import point
from sequoia.experiments.result import ExperimentResult, Series, Settings
from sequoia.experiments.runner import RunProgress, run_experiment
from sequoia.experiments.unit_log import UnitLog
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from tests.fakes import tiny_pair

SETTINGS = {"units": 4}


@pytest.fixture(scope="module")
def pair() -> Pair:
    return tiny_pair()


class Squares:
    """An experiment that squares numbers and remembers which ones it was asked for."""

    def __init__(self) -> None:
        self.asked = list[int]()
        self.experiment = Experiment(
            "squares", "Squares", "What are they?", {}, self._units, self._run, self._summary
        )

    def _units(self, settings: Settings) -> list[Unit]:
        return [Unit(f"number {i}", {"number": i}) for i in range(settings["units"])]

    def _run(self, _pair: Pair, unit: Unit) -> Mapping[str, Any]:
        self.asked.append(unit.work["number"])
        return {"square": unit.work["number"] ** 2}

    def _summary(self, _settings: Settings, done: Done) -> ExperimentResult:
        points = tuple(point(i, [one["square"]]) for i, one in enumerate(done.values()))
        return ExperimentResult(finding=f"{len(done)}", series=(Series("s", "m", "p", points),))


def stop_after(count: int) -> Callable[[], bool]:
    left = [count]

    def stop() -> bool:
        left[0] -= 1
        return left[0] < 0

    return stop


def test_a_run_that_was_stopped_gives_a_partial_result_and_resumes(
    pair: Pair, tmp_path: Path
) -> None:
    first = Squares()
    part = run_experiment(first.experiment, pair, SETTINGS, tmp_path, should_stop=stop_after(2))
    assert (part.done, part.total, part.is_complete) == (2, 4, False)
    assert part.finding == "2"
    second = Squares()
    whole = run_experiment(second.experiment, pair, SETTINGS, tmp_path)
    assert first.asked == [0, 1]
    assert second.asked == [2, 3]
    assert (whole.done, whole.total) == (4, 4)
    assert [one.mean for one in whole.series[0].points] == [0, 1, 4, 9]
    assert whole.title == "Squares"
    assert whole.target == pair.target.name


@pytest.mark.parametrize("torn", ['{"key": "number 2", "fou', '{"key": "number 2", "found": {}}'])
def test_the_unit_of_a_last_line_that_was_cut_off_is_run_again(
    pair: Pair, tmp_path: Path, torn: str
) -> None:
    """A line without a line break was not written in full, even if it is valid JSON."""
    run_experiment(Squares().experiment, pair, SETTINGS, tmp_path, should_stop=stop_after(2))
    file = tmp_path / "squares.jsonl"
    with file.open("a", encoding="utf-8") as out:
        out.write(torn)
    again = Squares()
    result = run_experiment(again.experiment, pair, SETTINGS, tmp_path)
    assert again.asked == [2, 3]
    assert [one.mean for one in result.series[0].points] == [0, 1, 4, 9]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 5


@pytest.mark.parametrize("damage", ['{"key', '{"key": [1], "found": {}}', "[]"])
def test_the_unit_of_a_damaged_line_is_run_again(pair: Pair, tmp_path: Path, damage: str) -> None:
    run_experiment(Squares().experiment, pair, SETTINGS, tmp_path)
    file = tmp_path / "squares.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    lines[2] = damage
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    again = Squares()
    assert run_experiment(again.experiment, pair, SETTINGS, tmp_path).is_complete
    assert again.asked == [1]


def test_another_pair_other_settings_and_another_version_start_anew(
    pair: Pair, tmp_path: Path
) -> None:
    messages = list[str]()

    def listen(progress: RunProgress) -> None:
        messages.append(progress.message)

    def asked(pair: Pair, settings: Settings, version: int = 1) -> list[int]:
        made = Squares()
        messages.clear()
        run_experiment(replace(made.experiment, version=version), pair, settings, tmp_path, listen)
        return made.asked

    other = tiny_pair(seed=1)
    assert asked(pair, SETTINGS) == [0, 1, 2, 3]
    assert not any(messages)
    assert asked(pair, SETTINGS) == []
    assert asked(other, SETTINGS) == [0, 1, 2, 3]
    assert [one for one in messages if one] == [
        "The saved parts cannot be reused. They differ from this run in: pair. Starting over."
    ]
    assert asked(other, {"units": 2}) == [0, 1]
    assert "settings" in messages[0]
    assert asked(other, {"units": 2}, version=2) == [0, 1]


def test_a_pair_with_one_changed_matrix_starts_anew(pair: Pair, tmp_path: Path) -> None:
    """The model's name stays the same. This happens if a LoRA is merged into a model and the result
    is saved in the model's own folder."""

    def asked(model: torch.nn.Module) -> list[int]:
        made = Squares()
        target = TreeModel(model, pair.target.name)
        run_experiment(made.experiment, replace(pair, target=target), SETTINGS, tmp_path)
        return made.asked

    tuned = copy.deepcopy(pair.target.hf)
    matrix = next(one for name, one in tuned.named_parameters() if name.endswith("q_proj.weight"))
    rows, columns = matrix.shape
    matrix.data += 1e-3 * torch.outer(torch.ones(rows), torch.arange(columns))
    assert asked(pair.target.hf) == [0, 1, 2, 3]
    assert asked(copy.deepcopy(pair.target.hf)) == []
    assert asked(tuned) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": 2}, "They differ from this run in: version."),
        ({"format": "other", "extra": None}, "They differ from this run in: format, extra."),
        ({}, "The file of saved parts is damaged."),  # the spaces in the JSON differ, but no field
    ],
)
def test_the_message_names_every_difference_in_the_header(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    file = tmp_path / "one.jsonl"
    UnitLog.open(file, {"experiment": "one", "sizes": (1, 2)})
    header = json.loads(file.read_text(encoding="utf-8")) | change
    file.write_text(json.dumps(header, separators=(",", ":")) + "\n", encoding="utf-8")
    log = UnitLog.open(file, {"experiment": "one", "sizes": (1, 2)})
    assert says in log.message


def test_progress_counts_the_units_and_gives_results_on_the_way(pair: Pair, tmp_path: Path) -> None:
    seen = list[tuple[int, int, str]]()

    def listen(progress: RunProgress) -> None:
        seen.append((progress.done, progress.total, progress.result().finding))

    run_experiment(Squares().experiment, pair, SETTINGS, tmp_path, listen)
    assert seen == [(i, 4, str(i)) for i in range(5)]
