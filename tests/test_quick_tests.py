"""`pytest -m quick tests` covers every room: each folder of the program has a folder of tests, and
at least one of them is not slow."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = sorted(
    path.parent.relative_to(ROOT)
    for top in ("sequoia", "ui")
    for path in (ROOT / top).rglob("__init__.py")
    if path.parent.name != top or path.parent.parent != ROOT
)


def found_in(room: Path) -> list[ast.FunctionDef]:
    """The test functions in the folder of `room` and below it."""
    folder = ROOT / "tests" / (room if room.parts[0] == "ui" else Path(*room.parts[1:]))
    return [
        node
        for path in folder.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def is_slow(test: ast.FunctionDef) -> bool:
    return any(ast.unparse(mark) == "pytest.mark.slow" for mark in test.decorator_list)


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_every_room_has_quick_tests(room: Path) -> None:
    tests = found_in(room)
    assert [test.name for test in tests if not is_slow(test)] != []
