"""Validates untrusted numbers, lists and files, and returns them as plain Python values. If the
input is not valid, most functions here raise the SequoiaError class that the caller chose."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any, TypeVar

from .errors import SequoiaError  # relative: training may run in a copy with another package name

MAX_SHOWN = 40
MAX_PATH_SHOWN = 200
# one call of the JSON encoder writes at most about this many values, which takes two milliseconds
_AT_ONCE = 20_000
# Larger lists and objects are written in groups of _ENTRIES entries. A string counts as one value,
# plus one for every _ENTRIES characters.
_ENTRIES = 16
T = TypeVar("T")
U = TypeVar("U")
_log = logging.getLogger(__name__)


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


def truth(value: Any, what: str, error: type[SequoiaError]) -> bool:
    """`value`, which must be True or False."""
    if not isinstance(value, bool):
        raise error(f"{what}: {shown(value)} is neither true nor false")
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


def read_json(text: Any, name: str, max_chars: int, error: type[SequoiaError]) -> dict[str, Any]:
    """The JSON object in `text`, a file of format "sequoia-{name}", version 1. The size is checked
    before the text is parsed. A byte order mark, which some editors write, is skipped. NaN and
    Infinity are rejected, because they are not JSON."""
    if not isinstance(text, str):
        raise error(f"a sequoia-{name} file is text, not {shown(text)}")
    if len(text) > max_chars:
        raise error(
            f"a sequoia-{name} file has at most {max_chars} characters; this one has {len(text)}"
        )
    try:
        data = json.loads(text.removeprefix("\ufeff"), parse_constant=_reject_constant)
    except (ValueError, RecursionError) as problem:
        raise error(f"not a JSON file: {problem}") from None
    return check_format(data, name, error)


def check_format(data: Any, name: str, error: type[SequoiaError]) -> dict[str, Any]:
    """`data`, which must be an object of format "sequoia-{name}", version 1."""
    kind = f"sequoia-{name}"
    if (
        not isinstance(data, dict)
        or data.get("format") != kind
        or type(data.get("version")) is not int
        or data["version"] != 1
    ):
        other = (
            f"; its format is {shown(data['format'])}"
            if isinstance(data, dict) and data.get("format") not in (None, kind)
            else ""
        )
        raise error(f"not a {kind} file: it needs format {kind!r} and version 1{other}")
    return data


def read_file(
    text: Any,
    name: str,
    max_chars: int,
    error: type[SequoiaError],
    read: Callable[[dict[str, Any]], T],
) -> T:
    """The result of `read` for the JSON object in `text`, a file of format "sequoia-{name}". Raises
    `error`, and nothing else, whatever is wrong with the text."""
    return read_dict(read_json(text, name, max_chars, error), name, error, read)


def read_each(found: Iterable[tuple[str, U]], read: Callable[[U], T]) -> dict[str, T]:
    """The results of `read`, by name, for the (name, file or entry) pairs in `found`. Damaged
    files and entries are skipped with a warning in the log."""
    results: dict[str, T] = {}
    for name, one in found:
        try:
            results[name] = read(one)
        except (SequoiaError, OSError, LookupError, TypeError, ValueError) as problem:
            reason = f"{type(problem).__name__}: {str(problem)[:200]}"
            _log.warning("skipped %s, which is damaged: %s", name, reason)
    return results


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
    """`data` as the content of a file of format "sequoia-{name}", version 1."""
    return {"format": f"sequoia-{name}", "version": 1, **data}


def write_file(
    data: Mapping[str, Any], name: str, max_chars: int, error: type[SequoiaError]
) -> str:
    """`data`, made by `as_file`, as text that `read_file` reads back. Raises `error` if the text
    is too long, and ValueError for NaN and infinity."""
    text = json_text(data, is_ascii=False)
    if len(text) > max_chars:
        raise error(
            f"the {name} has {len(text)} characters; a {name} file may have at most {max_chars}"
        )
    return text


def json_text(value: Any, *, is_ascii: bool) -> str:
    """`value` as JSON without spaces. is_ascii: whether non-ASCII characters are written as
    \\u codes. Raises ValueError for NaN and infinity.

    Python runs no other thread during a call of the JSON encoder, and 40 MB take a second. So a
    large value is encoded in pieces.
    """
    encoder = json.JSONEncoder(ensure_ascii=is_ascii, separators=(",", ":"), allow_nan=False)
    return "".join(_json_pieces(value, encoder.encode))


def _json_pieces(value: Any, encode: Callable[[Any], str]) -> Iterator[str]:
    if not isinstance(value, list | tuple | dict) or _is_small(value):
        yield encode(value)
        return
    yield "{" if isinstance(value, dict) else "["
    comma = ""
    for group in _groups(value):
        if _is_small(group):
            yield comma + encode(group)[1:-1]
        elif isinstance(group, dict):
            for key, item in group.items():
                yield comma + encode({key: 0})[1:-2]
                yield from _json_pieces(item, encode)
                comma = ","
        else:
            for item in group:
                yield comma
                yield from _json_pieces(item, encode)
                comma = ","
        comma = ","
    yield "}" if isinstance(value, dict) else "]"


def _groups(value: Any) -> Iterator[Any]:
    """The entries of a list or object, _ENTRIES at a time."""
    if isinstance(value, dict):
        entries = iter(value.items())
        while group := dict(islice(entries, _ENTRIES)):
            yield group
    else:
        for start in range(0, len(value), _ENTRIES):
            yield value[start : start + _ENTRIES]


def _is_small(value: Any) -> bool:
    """Whether a list or object contains at most _AT_ONCE values, nested ones included."""
    todo = [value]
    count = 0
    while todo:
        one = todo.pop()
        count += len(one)
        if count > _AT_ONCE:
            return False
        for item in one.values() if isinstance(one, dict) else one:
            if isinstance(item, str):
                count += len(item) // _ENTRIES
            elif isinstance(item, list | tuple | dict):
                todo.append(item)
    return count <= _AT_ONCE


def _reject_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed in JSON")
