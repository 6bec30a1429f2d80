"""Whether a text that may break off anywhere is valid Python so far."""

from __future__ import annotations

import ast
import codeop
import io
import tokenize
import warnings


def parses(text: str) -> bool:
    """Whether `text` is valid Python, with or without its last logical line, which may be
    unfinished. Without that line, the text may also be incomplete: an `if` without a body."""
    before = without_last_line(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _is_python(text) or _is_python(before) or _is_incomplete(before)


def without_last_line(text: str) -> str:
    """`text` without its last logical line. A logical line includes all lines that its brackets and
    quotes span."""
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
            start = _first_incomplete(text, start)
    return "".join(_lines(text)[:start])


def _first_incomplete(text: str, start: int) -> int:
    """The index of the line at which the unfinished rest of `text` begins. start: the index of the
    line at which the last complete logical line begins. Called if tokenizing failed before it
    produced a token of the rest."""
    lines = _lines(text)
    for end in range(start + 1, len(lines) + 1):
        if _is_complete("".join(lines[start:end])):
            return end
    return start


def _lines(text: str) -> list[str]:
    """The lines as tokenize counts them. str.splitlines also splits at form feeds and the like."""
    return list(io.StringIO(text))


def _is_complete(lines: str) -> bool:
    try:
        list(tokenize.generate_tokens(io.StringIO(lines).readline))
    except (tokenize.TokenError, SyntaxError):
        return False
    return True


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_incomplete(text: str) -> bool:
    """Whether Python would wait for more after `text`, such as a block's body or an `except`."""
    try:
        return codeop.compile_command(text, symbol="exec") is None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return False
