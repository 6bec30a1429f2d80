"""Running one task of a report: its outcome, and the file that the outcome is written to."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sequoia.errors import BadModel, OutOfMemory
from sequoia.planning.named_profiles import named_profile
from sequoia.report.tasks import machine, run_task
from sequoia.report.tasks.found import Found
from sequoia.report.tasks.pairs import curve
from sequoia.report.tasks.run_task import main, outcome_of


def out_of_memory() -> Found:
    raise OutOfMemory("Qwen3-32B needs about 65.5 GB on cpu; 20.0 GB is free")


@pytest.mark.parametrize(
    ("task", "status", "words"),
    [
        (lambda: Found("fine", {"x": 1.0}), "done", "fine"),
        (lambda: Found("2 of 3 differ", is_right=False), "failed", "2 of 3 differ"),
        (out_of_memory, "skipped", "Qwen3-32B needs about 65.5 GB on cpu; 20.0 GB is free"),
    ],
)
def test_an_outcome_says_what_was_found(task: Callable[[], Found], status: str, words: str) -> None:
    found = outcome_of(task, [])
    assert (found.status, found.words) == (status, words)


def test_an_error_other_than_out_of_memory_is_raised() -> None:
    def refused() -> Found:
        raise BadModel("it cannot run a tree")

    with pytest.raises(BadModel, match="it cannot run a tree"):
        outcome_of(refused, [])


def test_the_outcome_is_written_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_task, "TASKS", {"two": lambda one, two: Found(one + two)})
    assert main(["two", "a", "b"]) == 0
    data = json.loads((tmp_path / "outcome.json").read_text())
    assert (data["status"], data["words"]) == ("done", "ab")


def test_the_environment_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    found = machine.environment()
    assert found.words.startswith("cpu (")
    assert found.figures["versions"]["torch"] in found.words
    assert found.figures["free bytes"] > 0
    json.dumps(dict(found.figures))


def test_the_times_of_a_profile_in_words() -> None:
    words = curve(named_profile("rtx-4090-qwen3-8b"))
    assert words.startswith("t(1) ")
    assert "64 nodes " in words
    assert " ms" in words
