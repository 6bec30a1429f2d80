"""JSON written by strangers: looked at with bounds before any library reads it.

Python's own reader takes a name that comes twice, and other readers may take the other of its two
values, so such a file is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from sequoia.errors import SequoiaError

DEEPEST = 64  # levels of lists and objects


def read_object(
    path: Path, what: str, most_bytes: int, error: type[SequoiaError]
) -> dict[str, Any]:
    """The JSON object in the file at `path`, of at most `most_bytes`; `what` names it in messages.
    Raises `error`."""
    return object_of(read_bytes(path, what, most_bytes, error), what, error)


def read_bytes(path: Path, what: str, most_bytes: int, error: type[SequoiaError]) -> bytes:
    """The content of the file at `path`, of at most `most_bytes`. Raises `error`."""
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as problem:
        raise error(f"{what} cannot be read ({problem.strerror})") from None
    if len(data) > most_bytes:
        raise error(f"{what} is larger than the {most_bytes / 1e6:g} MB allowed")
    return data


def object_of(data: bytes, what: str, error: type[SequoiaError]) -> dict[str, Any]:
    """The JSON object in `data`. Raises `error` where it is anything else."""
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    except UnicodeDecodeError as problem:
        raise error(
            f"{what} is not UTF-8 text (byte {problem.start} is not part of any character)"
        ) from None
    except json.JSONDecodeError as problem:
        raise error(
            f"{what} is not valid JSON (line {problem.lineno}, column {problem.colno})"
        ) from None
    except RecursionError:
        raise error(f"{what} is nested deeper than the {DEEPEST} levels allowed") from None
    except ValueError as problem:  # a name twice, or a number of thousands of digits
        raise error(f"{what} is refused: {_reason(problem)}") from None
    if not isinstance(found, dict):
        raise error(f"{what} holds no JSON object, which is written in braces")
    if _depth(found) > DEEPEST:
        raise error(f"{what} is nested deeper than the {DEEPEST} levels allowed")
    return found


class _Twice(ValueError):
    pass


def _reason(problem: ValueError) -> str:
    return (
        str(problem) if isinstance(problem, _Twice) else "it holds a number of thousands of digits"
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
    raise _Twice(f"it names {twice[:60]!r} twice")


def _depth(value: Any) -> int:
    """Levels of lists and objects in `value`."""
    levels = 0
    row = [value]
    while row:
        levels += 1
        row = [inner for outer in row for inner in _inside(outer) if isinstance(inner, dict | list)]
    return levels


def _inside(value: dict[str, Any] | list[Any]) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else value
