"""Joins the page's ES modules into one, and its style sheets.

There is no build step: restart the app after editing a module. The modules are joined because one
request for each of them would delay the first paint. A module may use these forms: named imports,
`import * as`, imports of JSON files and of a module for its side effects, and `export` in front of
a function, class or const.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from sequoia.algorithm.verifiers import RULES
from sequoia.assets_folder import ASSETS
from ui.shared import colours, markup

UI = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(
    r'^import (?:(?:(?P<names>\{[^}]*\})|\* as (?P<all>\w+)|(?P<data>\w+)) from )?"(?P<path>[^"]+)"'
    r"(?: with \{[^}]*\})?;$",
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?P<kind>async function|function\*?|class|const) (?P<name>\w+)", re.MULTILINE
)
_LEFT_OVER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class BadModule(ValueError):
    """A module cannot be joined, or modules import each other in a circle. The message names the
    files."""


# served from the records of the verifiers; the file itself is for tests that have no server
VERIFIERS = UI / "shared" / "web" / "verifiers.json"
TOOLTIPS = ASSETS / "tooltips.json"
FIRST = UI / "serving" / "web" / "first.js"  # runs before Gradio's script


def modules() -> list[Path]:
    """All modules of the page, except FIRST and those beside it."""
    return [path for path in sorted(UI.glob("*/web/**/*.js")) if path.parent != FIRST.parent]


def saved_pages() -> dict[str, Path]:
    """For each view whose page can be saved as an HTML file: the module that draws the saved page.
    The keys are the views' names."""
    return {path.parents[1].name: path for path in sorted(UI.glob("*/web/saved_page.js"))}


def imported(path: Path) -> list[Path]:
    """The files that the module at `path` imports, in the order of its imports."""
    source = path.read_text(encoding="utf-8")
    return [(path.parent / found["path"]).resolve() for found in _IMPORT.finditer(source)]


def join(paths: Iterable[Path]) -> str:
    """The source of one module that exports the object `modules`. Its keys are the names of the
    modules at `paths`, such as "run/connect", and its values their exports. Raises
    BadModule."""
    paths = list(paths)
    order = _in_order(paths)
    number = {path: f"module_{i}" for i, path in enumerate(order)}
    parts = [_scoped(path, number) for path in order]
    table = ", ".join(f"{json.dumps(name_of(path))}: {number[path]}" for path in paths)
    return "\n".join([*parts, f"export const modules = {{ {table} }};", ""])


def name_of(path: Path) -> str:
    """The name of a module: `ui/run/web/connect.js` is "run/connect"."""
    view, _, *rest = path.relative_to(UI).with_suffix("").parts
    return "/".join([view, *rest])


def _in_order(paths: list[Path]) -> list[Path]:
    """`paths` and all files that they import, each file after the files it imports."""
    graph: dict[Path, list[Path]] = {}
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        if path in graph:
            continue
        graph[path] = imported(path) if path.suffix == ".js" else []
        waiting += graph[path]
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as problem:
        circle = " -> ".join(path.name for path in reversed(problem.args[1]))
        raise BadModule(f"modules import each other in a circle: {circle}") from None


def _scoped(path: Path, number: dict[Path, str]) -> str:
    """JavaScript that assigns the exports of the module at `path`, or the value in a JSON file, to
    the name `number[path]`. A module runs inside a function, so that names in different modules do
    not clash."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return f"const {number[path]} = {markup.literal(_data(path, source))};"

    def constant(found: re.Match[str]) -> str:
        value = number[(path.parent / found["path"]).resolve()]
        if found["names"]:
            return f"const {found['names'].replace(' as ', ': ')} = {value};"
        name = found["all"] or found["data"]
        return f"const {name} = {value};" if name else ""

    names = [found["name"] for found in _EXPORT.finditer(source)]
    body = _EXPORT.sub(r"\g<kind> \g<name>", _IMPORT.sub(constant, source))
    if rest := _LEFT_OVER.search(body):
        line = body.count("\n", 0, rest.start()) + 1
        raise BadModule(f"{path.name}, line {line}: cannot be joined: {rest[0].strip()}")
    return (
        f"// {name_of(path)}\nconst {number[path]} = (() => {{\n{body}\n"
        f"return {{ {', '.join(names)} }};\n}})();"
    )


def css() -> str:
    """All style sheets as one text of CSS."""
    views = sorted(UI.glob("*/web"), key=lambda folder: (folder.parent.name != "shared", folder))
    sheets = [sheet for folder in views for sheet in sorted(folder.rglob("*.css"))]
    texts = [colours.variables(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)]
    return "\n".join(texts)


# -- facts about verifiers -------------------------------------------------------------------------


def _data(path: Path, source: str) -> Any:
    """The value in the JSON file at `path`, whose text is `source`."""
    if path == VERIFIERS:
        return verifier_facts()
    data = json.loads(source)
    if path == TOOLTIPS:
        each = (f"{rule.label[0].upper()}{rule.label[1:]}: {rule.about}" for rule in RULES)
        data["verifier"] = data["verifier"].format(verifiers=" ".join(each))
    return data


def verifier_facts() -> dict[str, dict[str, str | bool]]:
    """The facts by the verifier's key; `fromLeaves` and `keepsQ` are those of Verifier."""
    return {
        rule.key: {
            "label": rule.label,
            "marker": rule.marker,
            "fromLeaves": rule.from_leaves,
            "keepsQ": rule.keeps_q,
        }
        for rule in RULES
    }
