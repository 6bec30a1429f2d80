"""The stages of a report. Those that a machine cannot run say why."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from sequoia.bench.random_weights import SHAPES
from sequoia.report import stages
from sequoia.report.choose import chosen
from sequoia.report.machine import QUIET_SECONDS, Machine
from sequoia.report.stages import all_stages, does_not_fit, seconds_of_shape
from sequoia.report.tasks.run_task import TASKS

LAPTOP = Machine("cpu (2 threads, a laptop)", False, 20e9, 20e9, 2e11, 2e10)
H200 = Machine("NVIDIA H200", True, 140e9, 200e9, 6e14, 4e12)


def test_every_stage_has_a_unique_name_and_a_module_that_exists() -> None:
    stages = all_stages(H200)
    assert len({one.name for one in stages}) == len(stages)
    assert all(find_spec(one.module) for one in stages)
    tasks = {one.arguments[0] for one in stages if one.module == "sequoia.report.tasks"}
    assert tasks == TASKS.keys() - {"machine"}


def test_a_recording_command_prints_the_line_that_the_table_shows() -> None:
    """The text `one.line`, by which the line is found, must be in the command's source."""
    for one in all_stages(LAPTOP):
        if one.module.startswith("ui.record"):
            found = find_spec(one.module)
            assert found
            assert found.origin
            assert one.line in Path(found.origin).read_text(encoding="utf-8")


def test_a_laptop_skips_what_needs_a_card_and_keeps_to_ten_minutes() -> None:
    """The stages chosen for ten minutes are expected to take at most ten minutes in total."""
    stages = {one.name: one for one in all_stages(LAPTOP)}
    for name in ("tests-gpu", "check-graphs", "check-distribution", "check-memory"):
        assert stages[name].obstacle == "needs a graphics card"
    assert stages["pair-bundled"].obstacle == ""
    possible = [one for one in stages.values() if not one.obstacle]
    names = {one.name for one in chosen(possible, 600)}
    assert {"environment", "pair-bundled", "profile", "bench", "race", "opening"} <= names
    assert sum(one.seconds for one in possible if one.name in names) <= 600


def test_without_pytest_the_stages_that_run_tests_are_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(stages, "find_spec", lambda _: None)
    words = "needs pytest (tests/requirements.txt)"
    skipped = {one.name for one in all_stages(H200) if one.obstacle == words}
    assert skipped == {"tests-gpu", "tests-kernel", "check-sanitizer"}


def test_a_shape_that_does_not_fit_is_skipped_and_says_what_it_needs() -> None:
    words = does_not_fit(SHAPES["qwen3-32b-0.6b"], LAPTOP)
    assert words == "needs 73.4 GB of memory; 20.0 GB is free"
    assert does_not_fit(SHAPES["qwen3-32b-0.6b"], H200) == ""
    small = replace(H200, free_bytes=15e9, host_free_bytes=200e9)
    assert does_not_fit(SHAPES["qwen3-32b-offloaded"], small) == ""
    assert "on the card" in does_not_fit(SHAPES["qwen3-8b"], small)
    without = replace(small, host_free_bytes=30e9)
    assert "of host memory" in does_not_fit(SHAPES["qwen3-32b-offloaded"], without)


def test_a_shape_that_takes_too_long_on_a_cpu_is_skipped_and_says_how_long() -> None:
    slow = replace(LAPTOP, operations_per_second=2e10)
    found = {one.name: one for one in all_stages(slow)}["shape-llama-2-7b"]
    assert found.obstacle.startswith("would take about ")
    assert found.obstacle.endswith(" s here; the limit is 300 s")
    fast = replace(LAPTOP, operations_per_second=1e13, bytes_per_second=4e11)
    assert seconds_of_shape(SHAPES["llama-2-7b"], fast) < 60


def test_a_shape_is_timed_with_and_without_graphs_on_a_card() -> None:
    on_card = {one.name for one in all_stages(H200)}
    assert {"shape-qwen3-8b", "shape-qwen3-8b-eager"} <= on_card
    assert "shape-qwen3-32b-offloaded-eager" not in on_card
    assert not [one.name for one in all_stages(LAPTOP) if one.name.endswith("eager")]


def test_a_busy_machine_is_given_more_time() -> None:
    figures = {name: getattr(LAPTOP, name) for name in Machine.__dataclass_fields__}
    del figures["slowness"]
    busy = Machine.from_figures(figures, 4 * QUIET_SECONDS)
    usual, longer = (
        next(one for one in all_stages(machine) if one.name == "bench")
        for machine in (Machine.from_figures(figures, 0.1), busy)
    )
    assert longer.seconds == pytest.approx(4 * usual.seconds)
    assert longer.limit >= 2 * longer.seconds
