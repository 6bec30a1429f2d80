"""A damaged file is either opened or refused with a message. The only error that opening it may
raise is the one for its kind of file, such as BadTrace for runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from damaged_files import KINDS, Damaged, damaged_files

from sequoia import Run, Tree
from sequoia.errors import BadProfile, BadTrace, BadTree, SequoiaError
from ui.run.recordings import opened
from ui.serving.limits import LOCAL
from ui.shared import saved_profiles

FILES = 500


def open_run(path: Path) -> object:
    return Run.from_json(path.read_bytes().decode("utf-8", "surrogateescape")).to_json()


def open_race(path: Path) -> object:
    race = opened(str(path), LOCAL.upload)
    return race.whole(), race.log().to_json()


def open_profile(path: Path) -> object:
    return saved_profiles.load_upload(str(path)).file()


def open_tree(path: Path) -> object:
    return Tree.from_json(path.read_bytes().decode("utf-8", "surrogateescape"))


OPENERS: dict[str, tuple[Callable[[Path], object], type[SequoiaError]]] = {
    "runs": (open_run, BadTrace),
    "races": (open_race, BadTrace),
    "profiles": (open_profile, BadProfile),
    "trees": (open_tree, BadTree),
}


@cache
def damaged() -> list[Damaged]:
    return [*damaged_files(FILES)]


@pytest.mark.parametrize("kind", KINDS)
def test_opening_raises_only_the_error_of_its_kind(kind: str, tmp_path: Path) -> None:
    """`kind` is what the files were before the damage: runs, races, profiles or trees."""
    opener, error = OPENERS[kind]
    path = tmp_path / "file.json"
    reasons: list[str] = []
    files = [file for file in damaged() if file.kind == kind]
    for file in files:
        path.write_bytes(file.data)
        try:
            opener(path)
        except error as problem:
            reasons.append(str(problem))
        except Exception as problem:
            pytest.fail(f"{file.how}: {problem!r}")
    assert len(reasons) > len(files) / 2
    assert max(map(len, reasons)) < 600
