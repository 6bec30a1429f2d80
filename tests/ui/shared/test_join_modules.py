"""The page's modules joined into one: what each may import and export, in which order they run, and
which kinds of import and export are refused."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sequoia.algorithm.verifiers import RULES
from ui.shared import join_modules, markup
from ui.shared.join_modules import BadModule, join, modules, verifier_facts

NODE = shutil.which("node")
ROOT = Path(__file__).resolve().parents[3]
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
Written = Callable[..., list[Path]]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Written:
    """A function that writes modules, given as name=source, and returns their paths. They are in
    the view "view" of a temporary UI folder."""
    monkeypatch.setattr(join_modules, "UI", tmp_path)

    def write(**sources: str) -> list[Path]:
        folder = tmp_path / "view" / "web"
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in sources.items():
            (folder / f"{name}.js").write_text(source, encoding="utf-8")
        return [folder / f"{name}.js" for name in sources]

    return write


def evaluated(script: str, expression: str) -> Any:
    """The value of `expression` after the module `script` has run."""
    program = f"{script}\nconsole.log(JSON.stringify({expression}));"
    command = [NODE, "--input-type=module", "-"]
    done = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
def test_named_imports_get_what_is_exported(written: Written) -> None:
    paths = written(
        a='import { one, two as second } from "./b.js";\nexport const sum = one + second();\n',
        b="export const one = 1;\nexport function two() {\n  return 2;\n}\n",
    )
    assert evaluated(join(paths), 'modules["view/a"].sum') == 3


@needs_node
def test_json_is_imported_as_it_is(written: Written, tmp_path: Path) -> None:
    value = {"text": "</script> \u2028 ${x}", "list": [1, None]}
    (tmp_path / "data.json").write_text(json.dumps(value), encoding="utf-8")
    paths = written(
        a='import data from "../../data.json" with { type: "json" };\nexport const it = data;\n'
    )
    assert evaluated(join(paths), 'modules["view/a"].it') == value


@needs_node
def test_equal_names_in_two_modules_do_not_clash(written: Written) -> None:
    paths = written(
        a="const x = 1;\nexport const a = x;\n", b="const x = 2;\nexport const b = x;\n"
    )
    assert evaluated(join(paths), '[modules["view/a"].a, modules["view/b"].b]') == [1, 2]


def test_an_import_cycle_is_refused_with_the_names_of_its_files(written: Written) -> None:
    paths = written(a='import "./b.js";\n', b='import "./c.js";\n', c='import "./a.js";\n')
    with pytest.raises(BadModule, match="in a circle") as problem:
        join(paths)
    names = str(problem.value).partition(": ")[2].split(" -> ")
    assert {*pairwise(names)} == {("a.js", "b.js"), ("b.js", "c.js"), ("c.js", "a.js")}


@pytest.mark.parametrize(
    "line",
    [
        "export default 1;",
        'export * from "./b.js";',
        'import b, { a } from "./b.js";',
    ],
)
def test_an_unknown_form_is_refused_with_file_and_line(written: Written, line: str) -> None:
    """`join` knows only some forms of import and export. The message names file and line."""
    paths = written(wrong=f"const first = 1;\n\n{line}\n", b="")
    with pytest.raises(BadModule) as problem:
        join(paths)
    assert str(problem.value) == f"wrong.js, line 3: cannot be joined: {line}"


def test_the_facts_about_verifiers_are_those_of_their_records() -> None:
    served = f"= {markup.literal(verifier_facts())};"
    assert served in join(modules())
    assert all(markup.literal(rule.about)[1:-1] in join(modules()) for rule in RULES)
    for_tests = json.loads(join_modules.VERIFIERS.read_text(encoding="utf-8"))
    facts = verifier_facts()
    assert all(fact.items() <= facts[key].items() for key, fact in for_tests.items())
    assert [key for key in for_tests if facts[key]["fromLeaves"]] == ["traversal"]
    assert [key for key in for_tests if facts[key]["keepsQ"]] == ["specinfer"]
