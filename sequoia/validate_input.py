"""Validates untrusted numbers, lists and files, and returns them as plain Python values. If the
input is not valid, most functions here raise the SequoiaError class that the caller chose."""

from __future__ import annotations

import gc
import json
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from numbers import Integral, Real
from typing import Any, TypeVar

import orjson

from .errors import SequoiaError  # relative: training may run in a copy with another package name

MAX_SHOWN = 40
MAX_PATH_SHOWN = 200
MAX_JSON_BYTES = 32 * 1024 * 1024  # of the largest file that is opened or saved
# Separators and opening brackets in such a file. With more, parsing it could take over 250 MiB of
# memory, or stop all other threads for half a second.
MAX_JSON_MARKS = 2_000_000
_VERSIONS = {"run": 2, "race": 2}  # of the formats; 1 for all others
# one file is parsed at a time, so that several uploads do not multiply the memory used
_alone = threading.Lock()
T = TypeVar("T")


def shown(value: Any) -> str:
    """`value` for an error message, always short. A long string is cut, a path only if it is very
    long, and then its end is kept. For a very long integer only its size is shown, and for values
    such as lists only the type."""
    if isinstance(value, str) and ("/" in value or "\\" in value):
        is_short = len(value) <= MAX_PATH_SHOWN
        return repr(value if is_short else "…" + value[-MAX_PATH_SHOWN:])
    if isinstance(value, str):
        return repr(value[:MAX_SHOWN])
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, Integral):
        value = int(value)
        return (
            str(value) if abs(value) < 10**MAX_SHOWN else f"an integer of {value.bit_length()} bits"
        )
    return f"a {type(value).__name__}"


def and_list(words: Sequence[str]) -> str:
    """`words` as a list in a sentence, such as "a, b and c". There must be at least one."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def whole(value: Any, what: str, low: int, high: int, error: type[SequoiaError]) -> int:
    """`value` as an int from `low` to `high`. True and 4.0 are rejected."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise error(f"{what}: {shown(value)} is not a whole number from {low} to {high}")
    return int(value)


def number(value: Any, what: str, low: float, high: float, error: type[SequoiaError]) -> float:
    """`value` as a float from `low` to `high`, both finite. True and NaN are rejected."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:  # pyright: ignore[reportOperatorIssue]
        raise error(f"{what}: {shown(value)} is not a number from {low:g} to {high:g}")
    return float(value)


def short_text(value: Any, what: str, most: int, error: type[SequoiaError]) -> str:
    """`value`, which must be a string of at most `most` characters."""
    if not isinstance(value, str):
        raise error(f"{what}: {shown(value)} is not text")
    if len(value) > most:
        raise error(
            f"{what}: {shown(value)}... has {len(value)} characters; at most {most} are allowed"
        )
    return value


def one_of(value: Any, what: str, choices: Sequence[str], error: type[SequoiaError]) -> str:
    """`value`, which must be one of `choices`."""
    if value not in choices:
        raise error(f"{what}: {shown(value)} is not one of {', '.join(choices)}")
    return value


def items(values: Any, rule: str, most: int, error: type[SequoiaError]) -> tuple[Any, ...]:
    """The first `most` + 1 elements of `values`: enough for the caller to see that there are too
    many, even if `values` never ends. If `values` cannot be read as a list, the error message
    begins with `rule`, such as "parents must be a list"."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise error(f"{rule}, not {shown(values)}")
    return tuple(islice(values, most + 1))


def read_json(text: str | bytes, name: str, most: int, error: type[SequoiaError]) -> dict[str, Any]:
    """The JSON object in `text`, a file of format "sequoia-{name}" of at most `most` bytes. The
    size is checked before the text is parsed. A byte order mark, which some editors write, is
    skipped. NaN and Infinity are rejected, because they are not JSON."""
    if not isinstance(text, str | bytes):
        raise error(f"a sequoia-{name} file is text, not {shown(text)}")
    data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    require_size(data, name, most, error)
    try:
        return check_format(_parsed(data), name, error)
    except ValueError as problem:
        raise error(f"not a JSON file: {_encoding_hint(data) or problem}") from None


def require_size(data: bytes, name: str, most: int, error: type[SequoiaError]) -> None:
    """Raises `error` if `data` is larger than a file that can be opened."""
    if len(data) > most:
        raise error(f"a {name} file may have at most {most:,} bytes; this one has {len(data):,}")
    if (marks := sum(map(data.count, (b",", b":", b"[", b"{")))) > MAX_JSON_MARKS:
        raise error(
            f"a {name} file may have at most {MAX_JSON_MARKS:,} commas, colons and opening "
            f"brackets; this one has {marks:,}"
        )


def _parsed(data: bytes) -> Any:
    """The JSON value in `data`. Raises ValueError."""
    with alone():
        return orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))


@contextmanager
def alone() -> Iterator[None]:
    """One file at a time is read, and without Python's garbage collector, which would go through
    all values again and again while they are made."""
    with _alone:
        gc.disable()
        try:
            yield
        finally:
            gc.enable()


def _encoding_hint(data: bytes) -> str:
    encoding = json.detect_encoding(data)
    if encoding.startswith("utf-8"):
        return ""
    return f"it is {encoding[:6].upper()} text; save it again as UTF-8"


def check_format(data: Any, name: str, error: type[SequoiaError]) -> dict[str, Any]:
    """`data`, which must be an object of format "sequoia-{name}" in its present version."""
    kind = f"sequoia-{name}"
    wanted = _VERSIONS.get(name, 1)
    if not isinstance(data, dict) or data.get("format") != kind:
        other = data.get("format") if isinstance(data, dict) else None
        words = f"; its format is {shown(other)}" if other is not None else ""
        raise error(f"not a {kind} file: it needs format {kind!r} and version {wanted}{words}")
    version = data.get("version")
    if type(version) is not int or version != wanted:
        raise error(
            f"a {kind} file of version {shown(version)}; this program reads version {wanted}"
        )
    return data


def read_file(
    text: str | bytes,
    name: str,
    most: int,
    error: type[SequoiaError],
    read: Callable[[dict[str, Any]], T],
) -> T:
    """The result of `read` for the JSON object in `text`, a file of format "sequoia-{name}". Raises
    `error`, and nothing else, whatever is wrong with the text."""
    return read_dict(read_json(text, name, most, error), name, error, read)


def read_dict(
    data: Any, name: str, error: type[SequoiaError], read: Callable[[dict[str, Any]], T]
) -> T:
    """The result of `read` for `data`, the parsed content of a file of format "sequoia-{name}".
    Raises `error`, and nothing else, whatever is wrong with the data."""
    data = check_format(data, name, error)
    try:
        return read(data)
    except error:
        raise
    except (
        SequoiaError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as problem:
        raise error(
            f"a damaged {name} file: {type(problem).__name__}: {str(problem)[:200]}"
        ) from None


def as_file(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """`data` as the content of a file of format "sequoia-{name}"."""
    return {"format": f"sequoia-{name}", "version": _VERSIONS.get(name, 1), **data}


def json_text(value: Any) -> str:
    """`value` as JSON without spaces. Raises ValueError for NaN and infinity, which JSON does not
    have, and TypeError for what is not a JSON value."""
    _require_finite(value)
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def _require_finite(value: Any) -> None:
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, float) and not math.isfinite(one):
            raise ValueError(f"{one} is not allowed in JSON")
        if isinstance(one, Mapping):
            todo.extend(one.values())
        elif isinstance(one, list | tuple):
            todo.extend(one)
