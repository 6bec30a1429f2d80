"""Files to download. Guards against one that is written anew for every visitor, and against an old
one that is removed while it is offered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ui.shared.download import download


def test_a_file_that_is_there_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    path = Path(download("a race", "race.json")["value"])
    assert path.read_text() == "a race"
    os.utime(path, (1, 1))
    path.chmod(0o400)
    assert download("a race", "race.json")["value"] == str(path)
    assert path.stat().st_mtime > 1  # among the newest, so it is not removed first
    assert path.stat().st_mode & 0o777 == 0o400  # the same file


def test_another_text_is_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    paths = {download(text, "race.json")["value"] for text in ("one", "two")}
    assert len(paths) == 2
