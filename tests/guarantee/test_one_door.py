"""The tests of the guarantees reach the program through doors.py alone. So if the program is
rebuilt, its promises are still tested by the same assertions."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_imports import modules_in

HERE = Path(__file__).parent
TESTS = {path.stem: path for path in HERE.parent.rglob("*.py")}
PROGRAM = {"sequoia", "ui", "app"}
DOOR = "doors"


def reached(module: str, source: str, seen: set[str]) -> set[str]:
    """The modules of the program that `source` imports, itself or through other test modules. The
    door ends the search."""
    found = {name.split(".")[0] for name in modules_in(source, module, False)}
    helpers = (found & TESTS.keys()) - seen - {DOOR, module}
    seen |= helpers
    below = [reached(name, TESTS[name].read_text(encoding="utf-8"), seen) for name in helpers]
    return (found & PROGRAM).union(*below)


@pytest.mark.parametrize("path", sorted(HERE.glob("*.py")), ids=lambda path: path.stem)
def test_a_guarantee_uses_the_door(path: Path) -> None:
    is_free = path.stem in {DOOR, Path(__file__).stem}
    source = path.read_text(encoding="utf-8")
    assert is_free or reached(path.stem, source, set()) == set()


def test_other_ways_in_are_seen() -> None:
    assert reached("test_x", "from sequoia.algorithm.tree import Tree", set()) == {"sequoia"}
    assert reached("test_x", "from fakes import tiny_pair", set()) == {"sequoia"}
    assert reached("test_x", "from checked_models import planted\nimport torch", set()) == set()
