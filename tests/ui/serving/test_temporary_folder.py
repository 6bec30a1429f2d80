"""The temporary folder is the app's own, and stays small."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from visits import wait

from ui.serving.temporary_folder import (
    keep_small,
    make_folder,
    remove_folder,
    trim,
)


def written(folder: Path, name: str, size: int, age: float) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x" * size)
    now = path.stat().st_mtime
    os.utime(path, (now - age, now - age))
    return path


def test_the_oldest_files_are_removed_until_the_rest_fits(tmp_path: Path) -> None:
    old = written(tmp_path, "a/old", 60, 100)
    middle = written(tmp_path, "b/middle", 60, 50)
    new = written(tmp_path, "new", 60, 0)
    trim(tmp_path, 180, 9)
    assert old.exists()
    trim(tmp_path, 120, 9)
    assert [path.exists() for path in (old, middle, new)] == [False, True, True]
    trim(tmp_path, 0, 9)
    assert not middle.exists()
    assert not new.exists()


def test_the_oldest_of_many_tiny_files_are_removed_with_their_folders(tmp_path: Path) -> None:
    """Guards against many files that have few bytes but use up the inodes of the disk."""
    files = [written(tmp_path, f"{number}/file", 1, 100 - number) for number in range(6)]
    beside = written(tmp_path, "1/beside", 1, 0)
    trim(tmp_path, 1000, 4)
    assert [path.exists() for path in files] == [False, False, False, True, True, True]
    assert {path.name for path in tmp_path.iterdir()} == {"1", "3", "4", "5"}
    assert beside.exists()


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    outside = written(tmp_path, "outside", 100, 0)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path)
    trim(folder, 0, 9)
    assert outside.exists()
    assert [*folder.iterdir()] == []


def test_the_folder_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.serving.temporary_folder.SECONDS", 0.01)
    path = written(tmp_path, "file", 10, 0)
    keep_small(tmp_path, 5, 9)
    wait(lambda: not path.exists())


def test_every_app_has_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "new"))
    first = make_folder()
    assert first.parent == tmp_path / "new"
    assert os.environ["GRADIO_TEMP_DIR"] == str(first)
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "new"))
    second = make_folder()
    assert first != second
    assert first.stat().st_mode & 0o777 == 0o700, "another user of the machine can read it"
    remove_folder(first)
    assert not first.exists()
    assert second.exists()
