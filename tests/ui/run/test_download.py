"""Files to download. Guards against writing the same file anew for every visitor, and against
removing an old file while it is offered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ui.run.run_handlers import download


def test_a_file_that_is_there_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    path = Path(download("a race", "race.json")["value"])
    assert path.read_text() == "a race"
    os.utime(path, (1, 1))
    path.chmod(0o400)
    assert download("a race", "race.json")["value"] == str(path)
    assert path.stat().st_mtime > 1  # no longer old, so Gradio keeps it
    assert path.stat().st_mode & 0o777 == 0o400  # not written again
