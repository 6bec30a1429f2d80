"""The list of verifiers. Code outside their folder must not ask which verifier it has, so that it
need not change for a new verifier. Experiments are left out: they compare verifiers by name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS, verifier_named
from sequoia.errors import BadSamplingParams

ROOT = Path(__file__).resolve().parents[3]
THEIR_OWN = ROOT / "sequoia" / "algorithm" / "verifiers"
RULES = {"SEQUOIA", "SPECINFER", "TOP_K_MATCH", "TRAVERSAL"}
SOURCES = sorted(
    path
    for path in [ROOT / "app.py", *(ROOT / "sequoia").rglob("*.py"), *(ROOT / "ui").rglob("*.py")]
    if THEIR_OWN not in path.parents
    and "experiments" not in path.parts
    and not path.stem.endswith("experiments")
)


def lines_that_distinguish(source: str) -> list[int]:
    """Lines of `source` that contain a verifier's key as a string, or compare something with a
    verifier such as SEQUOIA or with its attribute `key`."""
    return [node.lineno for node in ast.walk(ast.parse(source)) if distinguishes(node)]


def distinguishes(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in VERIFIERS
    return isinstance(node, ast.Compare | ast.MatchValue) and bool(RULES & names_in(node))


def names_in(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names | {part.attr for part in parts if isinstance(part, ast.Attribute)}


def test_only_their_own_folder_distinguishes_verifiers() -> None:
    lines = {path: lines_that_distinguish(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert len(lines) > 100
    assert {path: found for path, found in lines.items() if found} == {}


def test_keys_are_those_that_saved_files_contain() -> None:
    assert VERIFIERS.keys() >= {"sequoia", "specinfer", "topk", "traversal"}
    assert all(key == verifier.key for key, verifier in VERIFIERS.items())
    assert DEFAULT_VERIFIER == "sequoia"


def test_a_verifier_is_found_by_its_key_alone() -> None:
    assert verifier_named("topk") is VERIFIERS["topk"]
    with pytest.raises(
        BadSamplingParams, match="unknown verifier 'Sequoia'; known: sequoia, specinfer"
    ):
        verifier_named("Sequoia")
