"""Whether a text that was broken off is Python so far. Knows nothing of models."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings


def parses(text: str) -> bool:
    """Whether `ast` reads `text`, if need be without its last logical line, which may be
    unfinished.
    """
    return _is_python(text) or _is_python(without_last_line(text))


def without_last_line(text: str) -> str:
    """`text` up to the beginning of its last logical line: one with all lines that its brackets
    and quotes span.
    """
    start = 0
    is_new = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (
                tokenize.NL,
                tokenize.COMMENT,
                tokenize.INDENT,
                tokenize.DEDENT,
                tokenize.ENDMARKER,
            ):
                continue
            if is_new:
                start = token.start[0] - 1
            is_new = token.type == tokenize.NEWLINE
    except (tokenize.TokenError, SyntaxError):
        if is_new:
            start = _first_unread(text, start)
    return "".join(text.splitlines(keepends=True)[:start])


def _first_unread(text: str, start: int) -> int:
    """The line after the last whole logical line, which begins at `start`; what follows gave no
    token at all.
    """
    lines = text.splitlines(keepends=True)
    for end in range(start + 1, len(lines) + 1):
        if _is_whole("".join(lines[start:end])):
            return end
    return start


def _is_whole(lines: str) -> bool:
    try:
        list(tokenize.generate_tokens(io.StringIO(lines).readline))
    except (tokenize.TokenError, SyntaxError):
        return False
    return True


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
