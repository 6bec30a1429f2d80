"""A stage runs in a process of its own. Whatever the stage does, there is an outcome."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fake_stages import modules, stage  # noqa: F401

from sequoia.report import run_stage as runner
from sequoia.report.run_stage import run_stage
from sequoia.report.stage import Outcome


def outcome(tmp_path: Path, module: str, seconds: float = 60.0, **values: object) -> Outcome:
    work = tmp_path / "work"
    work.mkdir()
    return run_stage(stage("one", module, **values), work, tmp_path / "scratch", seconds)


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("module", "status", "words"),
    [
        ("works", "done", "seven"),
        ("fails", "failed", "exit status 1: no such thing"),
        ("crashes", "failed", "killed by SIGSEGV; its last line: so far"),
        ("skips", "skipped", "needs 99 GB"),
        ("writes_nonsense", "failed", "its outcome.json cannot be read"),
        ("no_such_module", "failed", "exit status 1: "),
    ],
)
def test_there_is_an_outcome_however_a_process_ends(
    tmp_path: Path, module: str, status: str, words: str
) -> None:
    found = outcome(tmp_path, module)
    assert (found.status, found.words[: len(words)]) == (status, words)


@pytest.mark.usefixtures("modules")
def test_a_stage_that_takes_too_long_has_failed(tmp_path: Path) -> None:
    found = outcome(tmp_path, "sleeps", limit=1.0)
    assert found.status == "failed"
    assert found.words.startswith("stopped after 1 s; its last line: ")


@pytest.mark.usefixtures("modules")
def test_a_stage_that_is_stopped_because_no_time_is_left_is_called_cut(tmp_path: Path) -> None:
    assert outcome(tmp_path, "sleeps", seconds=1.0).status == "cut"


@pytest.mark.usefixtures("modules")
def test_a_stage_has_to_write_its_files(tmp_path: Path) -> None:
    found = outcome(tmp_path, "works", files=("found.txt", "other.json"))
    assert found == Outcome("failed", "it did not write other.json", found.seconds)


@pytest.mark.usefixtures("modules")
def test_a_line_that_is_looked_for_but_was_not_printed_is_named(tmp_path: Path) -> None:
    assert outcome(tmp_path, "works", line="eight").words == 'no line with "eight" was printed'


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("module", ["sleeps", "starts_another"])
def test_a_stage_ends_when_the_process_that_started_it_ends(tmp_path: Path, module: str) -> None:
    """When the process that started a stage is killed, the stage's standard input closes. Here the
    test closes it. The stage then ends, and so do the processes that it started: the read below
    returns only when none of them has the output open."""
    process = runner._started(stage("one", module), tmp_path, tmp_path / "scratch", subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.close()
    process.stdout.read()
    assert process.wait(60) != 0
    process.stdout.close()


def test_a_process_writes_below_its_scratch_folder_and_downloads_nothing(tmp_path: Path) -> None:
    environment = runner._environment(tmp_path)
    below = {name for name, value in environment.items() if value.startswith(f"{tmp_path}/")}
    assert {"TMPDIR", "TRITON_CACHE_DIR", "CUDA_CACHE_PATH", "TORCHINDUCTOR_CACHE_DIR"} <= below
    assert environment["HF_HUB_OFFLINE"] == "1"
