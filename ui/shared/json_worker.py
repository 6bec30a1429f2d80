"""Parses one large JSON file. large_json.py runs this script in a process of its own, because the
file is untrusted. Nested lists can take over 40 times the file's size in memory. Parsing in the
server's own process would block all its other threads.

Arguments: the file, and the most memory to use in bytes. Output: the value cut into small pieces.
Each piece is marshalled and preceded by its length, so that the server's other threads are blocked
only while one piece is read. `values_of` puts the pieces together again. After an error, the last
line on stderr says what it was, and the exit status is 1.
"""

from __future__ import annotations

import json
import marshal
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

MAX_DEPTH = 12  # levels of lists and objects
MAX_VALUES = 3_000_000
MAX_LISTS = 400_000  # lists and objects; the longest saved runs have fewer
PIECE = 128 * 1024  # bytes
LENGTH_BYTES = 8
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BRACKETS = b"[]{}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_AS_LISTS = bytes.maketrans(b"{}", b"[]")


class Refused(Exception):
    """The file is not parsed; the message gives the reason."""


def scan(data: bytes) -> None:
    """Raises Refused if the JSON in `data` has too many values, lists and objects, or levels, or if
    brackets are missing. Nothing is parsed."""
    bare = _TEXT.sub(b"", data)
    if bare.count(b",") + bare.count(b"[") + bare.count(b"{") > MAX_VALUES:
        raise Refused(f"it has more than {MAX_VALUES} values")
    if bare.count(b"[") + bare.count(b"{") > MAX_LISTS:
        raise Refused(f"it has more than {MAX_LISTS} lists and objects")
    brackets = bare.translate(_AS_LISTS, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):  # each round removes the innermost level
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise Refused(f"its lists are nested more than {MAX_DEPTH} levels deep, or not closed")


def parsed(file: str) -> Any:
    data = Path(file).read_bytes()
    text = decoded(data)
    scan(data)
    return json.loads(text, parse_constant=_reject_constant)


def decoded(data: bytes) -> str:
    """The text in `data`, without the byte order mark that some editors write. Raises Refused if it
    is not UTF-8 text."""
    encoding = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        raise Refused(f"it is {encoding[:6].upper()} text; save it again as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8 text") from None


def pieces_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Cut `value` into the pieces from which `values_of` builds it again, each with its kind.

    "value": a whole value of at most PIECE bytes, or a longer text or number. "list", "object": a
    longer container begins. "entries": some of its entries. "key": the key or index of an entry
    of more than PIECE bytes, whose own pieces come next. "end": the container is complete.
    """
    if not isinstance(value, list | dict) or len(marshal.dumps(value)) <= PIECE:
        yield "value", value
        return
    is_list = isinstance(value, list)
    yield "list" if is_list else "object", None
    group: Any = type(value)()
    size = 0
    for key, item in enumerate(value) if is_list else value.items():
        length = len(marshal.dumps(item))
        if size + length > PIECE:
            yield "entries", group
            group = type(value)()
            size = 0
        if length > PIECE:
            yield "key", key
            yield from pieces_of(item)
        elif is_list:
            group.append(item)
            size += length
        else:
            group[key] = item
            size += length
    yield "entries", group
    yield "end", None


def values_of(pieces: Iterable[tuple[str, Any]]) -> Any:
    """The value that `pieces_of` cut into `pieces`."""
    outermost: list[Any] = []
    open_ones: list[Any] = [outermost]
    keys: list[Any] = [None]
    for kind, piece in pieces:
        holder = open_ones[-1]
        if kind == "entries":
            holder.extend(piece) if isinstance(holder, list) else holder.update(piece)
        elif kind == "key":
            keys[-1] = piece
        elif kind == "end":
            open_ones.pop()
            keys.pop()
        else:
            item = {"list": [], "object": {}}.get(kind, piece)
            if isinstance(holder, list):
                holder.append(item)
            else:
                holder[keys[-1]] = item
            if kind != "value":
                open_ones.append(item)
                keys.append(None)
    return outermost[0]


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def limit_memory(most: int) -> None:
    """Make allocations beyond `most` bytes fail with MemoryError. Does nothing on systems without
    such limits."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> None:
    limit_memory(int(sys.argv[2]))
    try:
        value = parsed(sys.argv[1])
        for piece in map(marshal.dumps, pieces_of(value)):
            sys.stdout.buffer.write(len(piece).to_bytes(LENGTH_BYTES) + piece)
    except MemoryError:
        sys.exit("parsing it takes too much memory")
    except (Refused, ValueError, RecursionError) as problem:
        sys.exit(str(problem)[:200])


if __name__ == "__main__":
    main()
