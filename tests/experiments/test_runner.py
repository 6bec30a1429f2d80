"""Runs of experiments: they stop, resume from the saved file even if its last line was cut off,
and start anew for another pair of models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sequoia.experiments.experiment import Cell, Entry, Experiment, Places, Settings, Unit
from sequoia.experiments.result import ExperimentResult
from sequoia.experiments.runner import RunProgress, run_experiment
from sequoia.models.pair import Pair
from tests.fakes import tiny_pair

SETTINGS = {"kinds": ["code"], "temperatures": [0.0], "prompts": 4}


@pytest.fixture(scope="module")
def pair() -> Pair:
    return tiny_pair()


class Squares:
    """An experiment that squares the number of a prompt and remembers which ones it was asked for.
    It compares each square with itself."""

    def __init__(self) -> None:
        self.asked = list[int]()
        self.experiment = Experiment("squares", "What are they?", {}, self._measure, self._pairs)

    def _measure(self, _pair: Pair, unit: Unit) -> list[Entry]:
        self.asked.append(unit.number)
        figures = {"tokens": float(unit.number**2)}
        return [Entry(lane="square", at={"number": unit.number}, figures=figures)]

    def _pairs(self, _settings: Settings, places: Places) -> Iterator[tuple[Cell, Cell]]:
        squares = [lanes["square"] for lanes in places if lanes["square"].at["number"] != 0]
        return zip(squares, squares, strict=True)


def squares_in(result: ExperimentResult) -> list[float]:
    return [row.figures["tokens"].mean for row in result.rows]


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
    assert squares_in(part) == [0, 1]
    second = Squares()
    whole = run_experiment(second.experiment, pair, SETTINGS, tmp_path)
    assert first.asked == [0, 1]
    assert second.asked == [2, 3]
    assert (whole.done, whole.total) == (4, 4)
    assert squares_in(whole) == [0, 1, 4, 9]
    assert [one.ratio.mean for one in whole.ratios] == [1, 1, 1]
    assert whole.target == pair.target.name


def test_the_unit_of_a_line_that_was_cut_off_is_run_again(pair: Pair, tmp_path: Path) -> None:
    run_experiment(Squares().experiment, pair, SETTINGS, tmp_path)
    file = tmp_path / "squares.jsonl"
    *lines, _ = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines) + '{"key": "a"', encoding="utf-8")
    again = Squares()
    result = run_experiment(again.experiment, pair, SETTINGS, tmp_path)
    assert again.asked == [3]
    assert squares_in(result) == [0, 1, 4, 9]


def test_another_pair_other_settings_and_another_version_start_anew(
    pair: Pair, tmp_path: Path
) -> None:
    messages = list[bool]()

    def listen(progress: RunProgress) -> None:
        messages.append(progress.starts_over)

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
    assert messages[0]
    assert asked(other, {**SETTINGS, "prompts": 2}) == [0, 1]
    assert messages[0]
    assert asked(other, {**SETTINGS, "prompts": 2}, version=2) == [0, 1]
    assert messages[0]


def test_progress_counts_the_units_and_gives_results_on_the_way(pair: Pair, tmp_path: Path) -> None:
    seen = list[tuple[int, int, int]]()

    def listen(progress: RunProgress) -> None:
        seen.append((progress.done, progress.total, len(progress.result().rows)))

    run_experiment(Squares().experiment, pair, SETTINGS, tmp_path, listen)
    assert seen == [(i, 4, i) for i in range(5)]
