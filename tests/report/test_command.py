"""The command line of the report."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_stages import modules, stage  # noqa: F401

from sequoia.report import command
from sequoia.report.command import main
from sequoia.report.folder import Folder
from sequoia.report.machine import Machine, NoMachine, examined
from sequoia.report.stage import Outcome

MACHINE = Machine("a card", True, 1e9, 1e9, 1e12, 1e12)


@pytest.fixture
def _two_stages(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.setattr(command, "examined", lambda _: MACHINE)
    monkeypatch.setattr(command, "all_stages", lambda _: [stage("a"), stage("b", "fails")])


@pytest.mark.usefixtures("_two_stages")
def test_the_status_says_whether_a_stage_has_failed(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert main([out, "--adopt"]) == 2
    assert not (tmp_path / "out").exists()
    assert main([out, "--only", "a"]) == 0
    assert main([out]) == 1
    assert main([out, "--adopt"]) == 0


@pytest.mark.usefixtures("_two_stages")
def test_a_folder_that_cannot_be_written_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.touch()
    assert main([str(file)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {file} cannot be written (")


@pytest.mark.usefixtures("_two_stages")
def test_an_unknown_stage_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "out"), "--skip", "c"]) == 2
    assert capsys.readouterr().err == "error: unknown stage 'c'; known: a, b\n"


@pytest.mark.parametrize("seconds", ["0", "nan", "inf", "-5", "ten"])
def test_a_budget_is_a_number_of_seconds(seconds: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--budget", seconds])


def test_the_error_says_why_the_machine_cannot_be_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sequoia.report.machine.run_stage", lambda *_: Outcome("failed", "killed by SIGSEGV")
    )
    with pytest.raises(NoMachine, match="cannot be examined: killed by SIGSEGV"):
        examined(Folder(tmp_path))
