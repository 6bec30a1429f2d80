"""If a container may use less memory than the machine has, the container's limit counts. Both
versions of control groups are tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from sequoia.this_machine import memory
from sequoia.this_machine.memory import free_in_container, most_in_container


def files(folder: Path, **texts: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "OWN_GROUP", tmp_path / "own")
    return tmp_path / "groups"


@pytest.mark.parametrize("path", ["/", "/a/b"])
def test_the_limit_of_the_group_counts(groups: Path, path: str) -> None:
    memory.OWN_GROUP.write_text(f"0::{path}\n")
    files(
        groups / path.lstrip("/"),
        memory__max=1000,
        memory__current=700,
        memory__stat="anon 500\ninactive_file 200",
    )
    assert (most_in_container(5000), free_in_container(4000)) == (1000, 500)
    assert (most_in_container(900), free_in_container(300)) == (900, 300)


def test_the_limit_of_an_enclosing_group_counts(groups: Path) -> None:
    memory.OWN_GROUP.write_text("0::/a/b\n")
    files(groups / "a" / "b", memory__max="max", memory__current=1, memory__stat="anon 5")
    files(groups / "a", memory__max=1000, memory__current=900, memory__stat="anon 5")
    assert (most_in_container(5000), free_in_container(4000)) == (1000, 100)


def test_without_a_limit_the_machine_counts(groups: Path) -> None:
    assert (most_in_container(5000), free_in_container(4000)) == (5000, 4000)
    memory.OWN_GROUP.write_text("0::/\n")
    files(groups, memory__max="max", memory__current=10, memory__stat="anon 5")
    assert (most_in_container(5000), free_in_container(4000)) == (5000, 4000)
