"""The commands: their help, their checks of output files, and that importing one does not run
it."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from sequoia.bench.command import write_json
from sequoia.errors import SequoiaError
from sequoia.text_files import require_writable


@pytest.mark.parametrize("command", ["bench", "shapes", "survey"])
def test_a_command_prints_its_options(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = f"sequoia.{command}"
    is_package = find_spec(module).submodule_search_locations is not None
    executed = f"{module}.__main__" if is_package else module
    monkeypatch.delitem(sys.modules, executed, raising=False)  # else runpy warns
    monkeypatch.setattr(sys, "argv", [command, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert not ended.value.code
    words = capsys.readouterr().out
    assert f"usage: python -m {module} " in words
    assert "(default: True)" not in words  # would be misread beside --no-graphs


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file" / "result.json"
    with pytest.raises(SequoiaError) as refusal:
        write_json(path, {})
    assert str(refusal.value).startswith(f"{path} cannot be written (")


def test_checking_that_a_file_can_be_written_changes_nothing(tmp_path: Path) -> None:
    """The only exception: the folder of a new file is created."""
    old, new = tmp_path / "old", tmp_path / "folder" / "new"
    old.write_text("kept")
    require_writable(old)
    require_writable(new)
    assert old.read_text() == "kept"
    assert not new.exists()
    with pytest.raises(SequoiaError, match="cannot be written"):
        require_writable(tmp_path)
