"""Removes near-duplicates: Python files, definitions, and paragraphs of prose that occurred before.

In Python, spans of three lines are compared. Indentation, blank lines and lines of comments are
ignored. All names in the style of a class name count as the same name, so that a class copied under
another name is found. The first copy is kept, so add the best sources first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .clean import parsed

SPAN = 3  # lines that are compared together
FILE_SEEN = 0.5  # a file is a copy if at least this fraction of its spans occurred before
PART_SEEN = 0.7  # the same for a function or class
MIN_SPANS = 4  # files and definitions with fewer spans can be equal by chance
NAME = re.compile(r"\b_?[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*\b")

MIN_PARAGRAPH = 40  # letters and digits; shorter paragraphs can be equal by chance
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Seen:
    """All spans and paragraphs so far. `keep` and `keep_paragraphs` return the parts of a text that
    are new, and remember the text. The paragraphs of docstrings are remembered too. A Python file
    that is a copy as a whole or is not valid is not remembered."""

    def __init__(self) -> None:
        self._spans: set[int] = set()
        self._paragraphs: set[int] = set()

    def keep(self, text: str) -> str | None:
        """`text`, a Python file, without the definitions that occurred before. None if the whole
        file is a copy, is not valid Python, or would become invalid without those definitions."""
        lines = [_plain(line) for line in text.split("\n")]
        if self._share(lines, 0, len(lines)) >= FILE_SEEN:
            return None
        tree = parsed(text)
        if tree is None:
            return None
        cuts = list(self._copied(tree, lines))
        self._spans.update(_spans(lines, 0, len(lines)))
        self._remember_docstrings(tree)
        return _cut(text, cuts) if cuts else text

    def keep_paragraphs(self, text: str) -> str:
        """`text` without the paragraphs that occurred before, in prose or in a docstring. Only
        letters and digits are compared, ignoring case. A paragraph with fewer than MIN_PARAGRAPH of
        them always stays."""
        kept = []
        for paragraph in text.split("\n\n"):
            mark = _paragraph_mark(paragraph)
            if mark is None or mark not in self._paragraphs:
                kept.append(paragraph)
            if mark is not None:
                self._paragraphs.add(mark)
        return "\n\n".join(kept)

    def _remember_docstrings(self, tree: ast.Module) -> None:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, *DEFINITIONS)) and (words := ast.get_docstring(node)):
                marks = map(_paragraph_mark, words.split("\n\n"))
                self._paragraphs.update(mark for mark in marks if mark is not None)

    def _share(self, lines: list[str], start: int, end: int) -> float:
        spans = list(_spans(lines, start, end))
        if len(spans) < MIN_SPANS:
            return 0.0
        return sum(span in self._spans for span in spans) / len(spans)

    def _copied(self, parent: ast.AST, lines: list[str]) -> Iterator[tuple[int, int]]:
        """The definitions in `parent` that are copies, as line ranges (first, end) counted from 0.
        `end` is exclusive. If a class is not a copy, the definitions in it are checked. If at most
        a docstring would remain of the class, the whole class counts as a copy."""
        for node in getattr(parent, "body", ()):
            if not isinstance(node, DEFINITIONS):
                continue
            start, end = _range(node)
            if self._share(lines, start, end) >= PART_SEEN:
                yield start, end
            elif isinstance(node, ast.ClassDef):
                inner = list(self._copied(node, lines))
                yield from [(start, end)] if inner and _is_emptied(node, inner) else inner


def _is_emptied(node: ast.ClassDef, cuts: list[tuple[int, int]]) -> bool:
    return all(
        _is_docstring(child) or (isinstance(child, DEFINITIONS) and _range(child) in cuts)
        for child in node.body
    )


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _range(node: Definition) -> tuple[int, int]:
    first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
    return first - 1, node.end_lineno or node.lineno


def _plain(line: str) -> str:
    line = line.strip()
    return "" if line.startswith("#") else NAME.sub("N", line)


def _spans(lines: list[str], start: int, end: int) -> Iterator[int]:
    """A hash of each span of SPAN consecutive lines; blank lines do not count."""
    solid = [line for line in lines[start:end] if line]
    for i in range(len(solid) - SPAN + 1):
        yield hash((solid[i], solid[i + 1], solid[i + 2]))


def _paragraph_mark(paragraph: str) -> int | None:
    """A hash of the paragraph's letters and digits, None if it has fewer than MIN_PARAGRAPH."""
    solid = "".join(filter(str.isalnum, paragraph)).lower()
    return hash(solid) if len(solid) >= MIN_PARAGRAPH else None


def _cut(text: str, cuts: list[tuple[int, int]]) -> str | None:
    """`text` without the line ranges `cuts` and the blank lines before each of them. None if the
    rest is not valid Python."""
    lines = [line + "\n" for line in text.split("\n")]
    for start, end in reversed(cuts):
        while start and not lines[start - 1].strip():
            start -= 1
        lines[start:end] = []  # the blank lines after the range remain
    left = "".join(lines).strip("\n") + "\n"
    return left if parsed(left) is not None else None
