"""Parses one large JSON file in a process of its own, run as a script by large_json.py. The file is
untrusted: nested lists take 70 times their size in memory, and no other thread runs while they are
parsed.

Arguments: the file, and bytes of memory. Out: the values, marshalled. An error is one line on
stderr, with exit status 1.
"""

from __future__ import annotations

import json
import marshal
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

MAX_DEPTH = 12  # levels of lists and objects
MAX_VALUES = 3_000_000
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_BRACKETS = b"[]{}"
_NO_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))


class Refused(Exception):
    """The file is not parsed; the text says why."""


def scan(data: bytes) -> None:
    """Raises Refused if the JSON in `data` has too many values or levels. Nothing is parsed."""
    bare = _TEXT.sub(b"", data)
    if bare.count(b",") + bare.count(b"[") + bare.count(b"{") > MAX_VALUES:
        raise Refused(f"it has more than {MAX_VALUES} values")
    brackets = bare.translate(None, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):  # each round removes the innermost level
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    if brackets:
        raise Refused(f"its lists are nested more than {MAX_DEPTH} levels deep, or not closed")


def parsed(file: str) -> Any:
    data = Path(file).read_bytes()
    scan(data)
    return json.loads(data.decode("utf-8"), parse_constant=_reject_constant)


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def limit_memory(most: int) -> None:
    """Further allocations fail as if no memory were left. Does nothing on systems without such
    limits."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> None:
    limit_memory(int(sys.argv[2]))
    try:
        values = marshal.dumps(parsed(sys.argv[1]))
    except MemoryError:
        sys.exit("it takes too much memory")
    except (Refused, ValueError, RecursionError) as problem:
        sys.exit(str(problem)[:200])
    sys.stdout.buffer.write(values)


if __name__ == "__main__":
    main()
