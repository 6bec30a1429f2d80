"""Reads untrusted JSON files and checks their size and depth.

An object with a repeated key is rejected: Python uses the last of the values, but another parser
may use the first.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from sequoia.errors import SequoiaError

MAX_DEPTH = 64  # levels of lists and objects


def read_object(
    path: Path, what: str, most_bytes: int, error: type[SequoiaError]
) -> dict[str, Any]:
    """The JSON object in the file at `path`. Raises `error` as `read_bytes` and `object_of` do."""
    return object_of(read_bytes(path, what, most_bytes, error), what, error)


def read_bytes(path: Path, what: str, most_bytes: int, error: type[SequoiaError]) -> bytes:
    """The content of the file at `path`. Raises `error` if it cannot be read or has more than
    `most_bytes` bytes. what: the file's name in the message."""
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as problem:
        raise error(f"{what} cannot be read ({problem.strerror})") from None
    if len(data) > most_bytes:
        raise error(f"{what} is larger than the {most_bytes / 1e6:g} MB allowed")
    return data


def object_of(data: bytes, what: str, error: type[SequoiaError]) -> dict[str, Any]:
    """The JSON object in `data`. NaN and Infinity are allowed, as in Python. Raises `error` if
    `data` is not a JSON object, is nested too deeply, repeats a key within an object, or contains
    an integer with too many digits for Python. what: the name of the data in the message."""
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_unique_keys)
    except UnicodeDecodeError as problem:
        raise error(
            f"{what} is not UTF-8 text (the byte at offset {problem.start} is not part of any "
            "character)"
        ) from None
    except json.JSONDecodeError as problem:
        raise error(
            f"{what} is not valid JSON (line {problem.lineno}, column {problem.colno})"
        ) from None
    except RecursionError:
        raise error(f"{what} is nested deeper than the {MAX_DEPTH} levels allowed") from None
    except _DuplicateKey as problem:
        raise error(f"{what} has the key {problem} twice") from None
    except ValueError:
        raise error(f"{what} contains an integer with thousands of digits") from None
    if not isinstance(found, dict):
        raise error(f"{what} is JSON but not an object; it must begin with {{ and end with }}")
    if _depth(found) > MAX_DEPTH:
        raise error(f"{what} is nested deeper than the {MAX_DEPTH} levels allowed")
    return found


class _DuplicateKey(ValueError):
    pass


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
    raise _DuplicateKey(repr(key[:60]))


def _depth(value: Any) -> int:
    """How many levels of lists and objects `value` has, its own included."""
    levels = 0
    row = [value]
    while row:
        levels += 1
        row = [inner for outer in row for inner in _inside(outer) if isinstance(inner, dict | list)]
    return levels


def _inside(value: dict[str, Any] | list[Any]) -> list[Any]:
    return [*value.values()] if isinstance(value, dict) else value
