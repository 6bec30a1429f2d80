"""`pytest -m quick tests` covers every room: each has at least one quick test. A room is a folder
below sequoia or ui with an __init__.py. A test in a room's folder of tests is quick unless it is
marked slow, gpu or nightly."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHERS = {f"pytest.mark.{name}" for name in ("slow", "gpu", "nightly")}
ROOMS = sorted(
    path.parent.relative_to(ROOT)
    for top in ("sequoia", "ui")
    for path in (ROOT / top).rglob("__init__.py")
    if path.parent.name != top or path.parent.parent != ROOT
)


def found_in(room: Path) -> list[ast.FunctionDef]:
    """The test functions in the room's folder of tests and in its subfolders. Modules marked slow,
    gpu or nightly as a whole are left out."""
    folder = ROOT / "tests" / (room if room.parts[0] == "ui" else Path(*room.parts[1:]))
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("test_*.py"))
    return [
        node
        for text in texts
        if not any(f"pytestmark = {mark}" in text for mark in OTHERS)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def is_quick(test: ast.FunctionDef) -> bool:
    return not any(ast.unparse(mark) in OTHERS for mark in test.decorator_list)


def test_every_room_has_quick_tests() -> None:
    assert [room for room in ROOMS if not any(map(is_quick, found_in(room)))] == []
