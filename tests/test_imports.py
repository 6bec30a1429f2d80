"""Imports go in one direction: in Python, from the page down to the algorithm; in the page's
scripts, from a view to what all views share. The tests read the imports from the source code,
without executing it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from ui.shared.join_modules import imported, modules

ROOT = Path(__file__).resolve().parent.parent
# From the bottom up. A package may import only packages in rows before its own. A file directly in
# `sequoia` or `ui` counts as a package here.
ENGINE = [
    {"errors", "assets_folder"},
    {"validate_input", "text_files"},
    {"checked_types"},
    {"algorithm"},
    {"planning", "saved_files", "this_machine"},
    {"models"},
    {"decoding", "loading"},
    {"measuring"},
    {"diagnosis", "exactness"},
    {"bench", "engines"},
    {"experiments", "distill"},
    {"shapes", "survey", "mcp"},
]
PAGE = [
    {"words"},
    {"shared"},
    {"serving"},
    {"run"},
    {"film", "lab", "hardware", "models", "walk"},
    {"lossless", "experiments", "engines"},
    {"api", "notebook", "paper", "tour"},
    {"page", "record"},
]
NOT_THE_ENGINE = {"gradio", "plotly", "ui", "app"}
WITHOUT_GRADIO = [
    *("ui.run." + name for name in ("messages", "request", "decode_job", "recordings", "report")),
    *("ui.serving." + name for name in ("fair_queue", "model_host", "job", "run_job")),
    *("ui.shared." + name for name in ("tree_menu", "tree_request", "prompts", "markup")),
    *("ui.experiments." + name for name in ("experiment_job", "messages")),
    *("ui.lossless." + name for name in ("lossless_job", "messages")),
    *("ui.words." + name for name in ("experiments", "losslessness", "plans", "race_verdict")),
    *("ui.words." + name for name in ("hardware", "paper", "race_analysis")),
]
VIEWS_OF_RUNS = {"film"}
SCRIPTS = [path.relative_to(ROOT) for path in modules()]
LIBRARIES_OF_MODELS = {"transformers", "tokenizers", "huggingface_hub", "safetensors", "accelerate"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


FILES = {
    name_of(path): path for folder in ("sequoia", "ui") for path in (ROOT / folder).rglob("*.py")
}


def modules_in(source: str, module: str, is_package: bool) -> set[str]:
    """Full names of all modules that `source`, the text of `module`, imports anywhere."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            start = _start(node, module, is_package)
            found |= {start} | {f"{start}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call):
            found |= _imported_by_call(node)
    return found


def _start(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    """The full name of the module that `from ... import` takes names from."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    base = parts[: len(parts) + is_package - node.level]
    return ".".join([*base, *([node.module] if node.module else [])])


def _imported_by_call(node: ast.Call) -> set[str]:
    if not ast.unparse(node.func).endswith(("__import__", "import_module")):
        return set()
    first = [arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant)]
    return {name for name in first if isinstance(name, str)}


@cache
def imports(module: str) -> frozenset[str]:
    path = FILES[module]
    source = path.read_text(encoding="utf-8")
    return frozenset(modules_in(source, module, path.name == "__init__.py"))


def room(module: str) -> str:
    """The folder or file directly in `sequoia` or `ui` that has `module`: `sequoia.models.native.x`
    is in `models`."""
    return module.split(".")[1]


def wrong_arrows(module: str, imported: frozenset[str], rows: list[set[str]]) -> list[str]:
    """Packages that `module` imports against the order of `rows`."""
    package = module.split(".")[0]
    height = {name: i for i, row in enumerate(rows) for name in row}
    others = {room(name) for name in imported if name.startswith(f"{package}.") and name in FILES}
    others.discard(room(module))
    return sorted(other for other in others if height[other] >= height[room(module)])


def public_names(imported: frozenset[str]) -> set[str]:
    """Names imported from `sequoia/__init__.py`. They are meant for code outside `sequoia`."""
    direct = {name for name in imported if name.startswith("sequoia.") and name.count(".") == 1}
    return direct - FILES.keys()


def modules_of(package: str) -> list[str]:
    """All modules of `package`, without its own `__init__`."""
    return sorted(name for name in FILES if name.startswith(f"{package}."))


def test_packages_of_the_engine_import_only_lower_ones() -> None:
    for module in modules_of("sequoia"):
        assert wrong_arrows(module, imports(module), ENGINE) == [], module
        assert public_names(imports(module)) == set(), module
        assert not {name.split(".")[0] for name in imports(module)} & NOT_THE_ENGINE, module


def test_packages_of_the_page_import_only_lower_ones() -> None:
    for module in modules_of("ui"):
        assert wrong_arrows(module, imports(module), PAGE) == [], module


def test_the_algorithm_imports_no_model_library() -> None:
    for module in modules_of("sequoia.algorithm"):
        assert not {name.split(".")[0] for name in imports(module)} & LIBRARIES_OF_MODELS, module


@pytest.mark.parametrize("package", ["sequoia", "ui"])
def test_there_are_no_circular_imports(package: str) -> None:
    names = modules_of(package)
    graph = {name: imports(name) & set(names) - {name} for name in names}
    while free := {name for name, below in graph.items() if not below & graph.keys()}:
        graph = {name: below for name, below in graph.items() if name not in free}
    assert not graph


def test_code_that_runs_in_threads_does_not_import_gradio() -> None:
    """Jobs, requests and messages are plain Python: they run and are tested without a page."""
    for module in WITHOUT_GRADIO:
        assert "gradio" not in imports(module), module


# -- the page's scripts ----------------------------------------------------------------------------


def wrong_script_imports(script: Path, found: list[Path]) -> list[Path]:
    """The files in `found` that `script` may not import. It may import files in the `web` folders
    of `shared` and of its own view, and JSON files in `assets`. The views of runs and races may
    also import what they share, in `run`. Paths are relative to the root."""
    own = script.parts[1]
    views = {"shared", own, *(["run"] if own in VIEWS_OF_RUNS else [])}
    return [path for path in found if not _may_import(views, path)]


def _may_import(views: set[str], path: Path) -> bool:
    if path.parts[0] == "assets":
        return path.suffix == ".json"
    return path.parts[0] == "ui" and path.parts[1] in views and path.parts[2] == "web"


def scripts_imported(script: Path) -> list[Path]:
    return [path.relative_to(ROOT) for path in imported(ROOT / script)]


def circles(graph: dict[Path, set[Path]]) -> set[Path]:
    """The files that are in a circle of imports or lead to one."""
    while free := {path for path, below in graph.items() if not below & graph.keys()}:
        graph = {path: below for path, below in graph.items() if path not in free}
    return set(graph)


def test_a_script_imports_only_shared_and_its_own_view() -> None:
    for script in SCRIPTS:
        assert wrong_script_imports(script, scripts_imported(script)) == [], script


def test_no_scripts_import_each_other_in_a_circle() -> None:
    assert circles({script: set(scripts_imported(script)) for script in SCRIPTS}) == set()
