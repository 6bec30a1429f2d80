"""Dependencies point one way: the page on top, the engine below it, the algorithm at the bottom. Imports are read, not run."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = sorted((ROOT / "sequoia").rglob("*.py"))
PAGE = {"gradio", "plotly", "ui", "app"}
HUGGING_FACE = {"transformers", "tokenizers", "huggingface_hub", "safetensors", "accelerate"}
# The algorithm, and what each part of it may know of the rest of the package.
CORE = {
    "errors": set(),
    "guarded": {"errors"},
    "policy": {"errors", "guarded"},
    "tree": {"errors", "guarded"},
    "acceptance": {"errors", "guarded"},
    "planner": {"errors", "guarded", "tree", "acceptance"},
    "chance": {"errors"},
    "warp": {"errors", "policy"},
    "verify": {"tree", "chance"},
    "hardware": {"errors", "guarded", "acceptance"},
    "plan": {"errors", "guarded", "tree", "acceptance", "planner", "hardware"},
    "trace": {"errors", "guarded", "tree", "verify"},
}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def modules_in(source: str, module: str, is_package: bool) -> set[str]:
    """Full names of all modules that `source`, the text of `module`, imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[:len(module.split(".")) + is_package - node.level] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            found |= {start} | {f"{start}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("__import__", "import_module")):
            found |= {arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
    return found


@cache
def imports(path: Path) -> frozenset[str]:
    return frozenset(modules_in(path.read_text(encoding="utf-8"), name_of(path), path.name == "__init__.py"))


def inner(path: Path) -> set[str]:
    """Names of the package's own modules that `path` imports, without the package's."""
    known = {name_of(other) for other in PACKAGE} - {"sequoia"}
    return {name.removeprefix("sequoia.") for name in imports(path) & known}


def test_the_reader_of_imports_sees_them_all() -> None:
    source = ("import a.b, c as d\nfrom e import f\nfrom . import g\nfrom .h import i\nfrom ..j import k\n"
              "def late():\n    import l\n    importlib.import_module('m.n')\n    __import__('o')\n")
    assert modules_in(source, "p.q.r", False) == {
        "a.b", "c", "e", "e.f", "p.q", "p.q.g", "p.q.h", "p.q.h.i", "p.j", "p.j.k", "l", "m.n", "o"}
    assert modules_in("from . import g\nfrom .h import i", "p.q", True) == {"p.q", "p.q.g", "p.q.h", "p.q.h.i"}


@pytest.mark.parametrize("path", PACKAGE, ids=name_of)
def test_the_package_never_imports_the_page(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & PAGE


@pytest.mark.parametrize("module", CORE)
def test_the_algorithm_knows_only_what_lies_below_it(module: str) -> None:
    path = ROOT / "sequoia" / f"{module}.py"
    assert inner(path) <= CORE[module]
    assert not {name.split(".")[0] for name in imports(path)} & HUGGING_FACE


TRAINING = sorted((ROOT / "sequoia" / "pretrain").glob("*.py"))


@pytest.mark.parametrize("path", TRAINING, ids=name_of)
def test_the_training_needs_nothing_else_of_the_package(path: Path) -> None:
    """A run of many hours goes on from a frozen copy of these files and of the two below them."""
    others = {name for name in inner(path) if not name.startswith("pretrain")}
    assert others <= {"errors", "guarded"}


def test_the_table_of_the_core_has_no_way_up() -> None:
    """What a core module may import is core, and never leads back to it."""
    for module, below in CORE.items():
        seen, new = set(), set(below)
        while new:
            seen |= new
            new = {name for other in new for name in CORE[other]} - seen
        assert module not in seen


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name_of(path).removeprefix("sequoia."): inner(path) for path in PACKAGE if path.name != "__init__.py"}
    while free := {name for name, below in graph.items() if not below & graph.keys()}:
        graph = {name: below for name, below in graph.items() if name not in free}
    assert not graph


def test_only_commands_read_the_command_line() -> None:
    """`argparse` belongs to modules that are run with `python -m`."""
    for path in PACKAGE:
        if "argparse" in imports(path):
            assert '__name__ == "__main__"' in path.read_text(encoding="utf-8") or path.name == "__main__.py", path
