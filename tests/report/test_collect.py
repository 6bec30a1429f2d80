"""Runs the stages of a report. After an interruption, the next run repeats only the interrupted
stage and runs the remaining ones."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from fake_stages import modules, stage  # noqa: F401

from sequoia.report import collect as collecting
from sequoia.report.collect import Wanted, collect
from sequoia.report.folder import BadReport, Folder
from sequoia.report.run_stage import run_stage
from sequoia.report.stage import Outcome, Stage
from sequoia.validate_input import as_file

pytestmark = pytest.mark.usefixtures("modules")


def counting(tmp_path: Path, *names: str) -> list[Stage]:
    """Stages that append their name to a file. The first of them is the most valuable."""
    log = str(tmp_path / "counts")
    return [stage(name, "counts", log, name, value=90 - i) for i, name in enumerate(names)]


def counted(tmp_path: Path) -> list[str]:
    return (tmp_path / "counts").read_text().split()


def collected(folder: Folder, stages: list[Stage], **wanted: Any) -> tuple[bool, str]:
    lines: list[str] = []
    with folder.opened():
        is_good = collect(stages, folder, Wanted(**wanted), time.monotonic(), lines.append)
    return is_good, "\n".join(lines)


def statuses(folder: Folder, stages: list[Stage]) -> list[str | None]:
    found = [folder.result(one.name) for one in stages]
    return [one.outcome.status if one else None for one in found]


def test_a_failed_stage_does_not_stop_the_others(tmp_path: Path) -> None:
    stages = [
        stage("a", "crashes", value=9),
        stage("b", "fails", value=8),
        stage("c", "sleeps", value=7, seconds=0.1, limit=0.5),
        stage("d", "works", value=6, files=("found.txt",)),
        stage("e", "skips", value=5),
        stage("f", skip="needs a card"),
    ]
    folder = Folder(tmp_path / "out")
    is_good, text = collected(folder, stages)
    assert not is_good
    assert statuses(folder, stages) == ["failed", "failed", "failed", "done", "skipped", None]
    table = text[text.index("stage ") :].splitlines()
    assert [line.split()[:2] for line in table[1:]] == [
        *(["a", "failed"], ["b", "failed"], ["c", "failed"]),
        *(["d", "done"], ["e", "skipped"], ["f", "skipped"]),
    ]
    assert table[-1].endswith("needs a card")
    assert (folder.path / "summary.txt").read_text() == "\n".join(table) + "\n"
    assert (folder.stages / "d" / "found.txt").read_text() == "7"


def test_a_skipped_stage_counts_as_success(tmp_path: Path) -> None:
    assert collected(Folder(tmp_path / "out"), [stage("a", "skips")])[0]


def test_a_second_run_repeats_nothing(tmp_path: Path) -> None:
    stages = [*counting(tmp_path, "a", "b"), stage("c", "fails")]
    folder = Folder(tmp_path / "out")
    assert collected(folder, stages)[1].count("what ") == 3
    is_good, text = collected(folder, stages)
    assert not is_good
    assert "what " not in text
    assert counted(tmp_path) == ["a", "b"]


def test_only_the_interrupted_stage_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is interrupted after the second stage has done its work, but before its result is
    stored. The stage's folder in `running` stays behind."""
    stages = counting(tmp_path, "a", "b", "c")
    folder = Folder(tmp_path / "out")

    def killed(one: Stage, *given: Any) -> Outcome:
        found = run_stage(one, *given)
        if one.name == "b":
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(collecting, "run_stage", killed)
    with pytest.raises(KeyboardInterrupt):
        collected(folder, stages)
    assert (folder.path / "running" / "b" / "log.txt").exists()
    monkeypatch.undo()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    assert collected(folder, stages)[0]
    assert counted(tmp_path) == ["a", "b", "b", "c"]
    assert not (folder.path / "running").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_report_that_is_killed_again_and_again_loses_only_the_stage_it_was_in(
    tmp_path: Path,
) -> None:
    """At random moments, the command gets SIGKILL, which nothing can catch. Stored results stay as
    they are, and each kill makes at most one stage run again."""
    log = tmp_path / "counts"
    stages = [
        stage(name, "counts_slowly", str(log), name, value=90 - i, files=("found.txt",))
        for i, name in enumerate("abcd")
    ]
    folder = Folder(tmp_path / "out")
    chance = random.Random(25)
    kills = 4
    for _ in range(kills):
        before = stored(folder)
        command = started(folder, stages)
        command.join(chance.uniform(0.2, 0.9))
        command.kill()
        command.join()
        assert before.items() <= stored(folder).items()
    command = started(folder, stages)
    command.join()
    assert command.exitcode == 0
    assert statuses(folder, stages) == ["done"] * 4
    assert [(folder.stages / name / "found.txt").read_text() for name in "abcd"] == [*"abcd"]
    assert {*counted(tmp_path)} == {*"abcd"}
    assert len(counted(tmp_path)) <= 4 + kills
    assert sorted(path.name for path in folder.path.iterdir()) == ["lock", "stages", "summary.txt"]


def started(folder: Folder, stages: list[Stage]) -> Any:
    """A process that runs the stages, as the command does."""
    process = multiprocessing.get_context("fork").Process(target=collected, args=(folder, stages))
    process.start()
    return process


def stored(folder: Folder) -> dict[str, bytes]:
    """The result of each stage that has one."""
    return {path.parent.name: path.read_bytes() for path in folder.stages.glob("*/result.json")}


HUGE = {"status": "done", "words": "", "seconds": 10**400, "files": {}}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"format": "sequoia-result", "version": 1}',
        "[]",
        json.dumps(as_file(HUGE, "result")),
    ],
)
def test_a_stage_with_a_damaged_result_is_repeated(tmp_path: Path, text: str) -> None:
    stages = counting(tmp_path, "a", "b")
    folder = Folder(tmp_path / "out")
    collected(folder, stages)
    (folder.stages / "a" / "result.json").write_text(text)
    assert collected(folder, stages)[0]
    assert counted(tmp_path) == ["a", "b", "a"]


def test_stages_beyond_the_budget_are_left_for_the_next_run(tmp_path: Path) -> None:
    dear, cheap = counting(tmp_path, "dear", "cheap")
    dear = stage("dear", "counts", *dear.arguments, value=90, seconds=500.0, limit=1000.0)
    folder = Folder(tmp_path / "out")
    _, text = collected(folder, [dear, cheap], seconds=100.0)
    assert "no time left: would take about 500 s" in text
    assert counted(tmp_path) == ["cheap"]
    collected(folder, [dear, cheap])
    assert counted(tmp_path) == ["cheap", "dear"]


def test_a_stage_that_the_budget_cuts_is_repeated_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = counting(tmp_path, "a")
    folder = Folder(tmp_path / "out")
    cut = Outcome("cut", "ended after 3 s")
    with monkeypatch.context() as patched:
        patched.setattr(collecting, "run_stage", lambda *_: cut)
        is_good, text = collected(folder, stages)
    assert is_good
    assert text.endswith("ended after 3 s")
    assert statuses(folder, stages) == [None]
    assert collected(folder, stages)[0]
    assert statuses(folder, stages) == ["done"]
    assert counted(tmp_path) == ["a"]


def test_a_stage_that_would_exceed_its_time_limit_is_skipped(tmp_path: Path) -> None:
    _, text = collected(Folder(tmp_path / "out"), [stage("a", seconds=900.0, limit=300.0)])
    assert text.endswith("would take about 900 s here; the limit is 300 s")


def test_stages_can_be_named_and_left_out(tmp_path: Path) -> None:
    stages = counting(tmp_path, "a", "b", "c")
    folder = Folder(tmp_path / "out")
    assert "left out with --skip" in collected(folder, stages, skip=("a", "c"))[1]
    table = collected(folder, stages, only=("c",))[1].splitlines()[-3:]
    assert [line.split()[0] for line in table] == ["stage", "b", "c"]
    assert counted(tmp_path) == ["b", "c"]


def test_a_failed_stage_is_repeated_if_asked_for_by_name(tmp_path: Path) -> None:
    """`--only` asks for stages by name. Without it, a failed stage is not run again."""
    folder = Folder(tmp_path / "out")
    collected(folder, [stage("a", "fails")])
    assert collected(folder, [stage("a", "works")], only=("a",))[0]
    assert statuses(folder, [stage("a")]) == ["done"]


def test_a_report_is_of_one_machine_and_one_version(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.identify("a card", "1234")
    folder.identify("a card", "1234")
    with pytest.raises(BadReport, match="report of machine 'a card', but this is 'another card'"):
        folder.identify("another card", "1234")
    with pytest.raises(BadReport, match="report of program version '1234', but this is '5678'"):
        folder.identify("a card", "5678")


def test_two_commands_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with (
        Folder(tmp_path).opened(),
        pytest.raises(BadReport, match="another command is writing"),
        Folder(tmp_path).opened(),
    ):
        pass


def test_outcomes_are_json(tmp_path: Path) -> None:
    found = Outcome("done", "words", 1.5, {"figure": 3})
    assert Outcome.from_dict(json.loads(json.dumps(found.to_dict()))) == found
    with pytest.raises(ValueError, match="'mystery' is not one of"):
        Outcome.from_dict({"status": "mystery", "words": ""})
    assert math.isinf(Wanted().seconds)
