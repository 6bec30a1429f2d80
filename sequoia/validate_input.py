"""Checks at the border: numbers and files from outside become plain values, or the caller's own
SequoiaError. Knows no format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeVar

from .errors import SequoiaError  # relative: a training runs from a copy of another name

MAX_SHOWN = 40
T = TypeVar("T")


def shown(value: Any) -> str:
    """`value` for an error message: short, and safe for integers of any length and
    lists of any depth."""
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
    """`value` as an int from `low` to `high`; True and 4.0 are refused."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise error(f"{what}: {shown(value)} is not a whole number from {low} to {high}")
    return int(value)


def number(value: Any, what: str, low: float, high: float, error: type[SequoiaError]) -> float:
    """`value` as a float between the finite `low` and `high`; True is refused, and NaN
    is between nothing."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:  # pyright: ignore[reportOperatorIssue]
        raise error(f"{what}: {shown(value)} is not a number from {low:g} to {high:g}")
    return float(value)


def read_json(text: Any, kind: str, max_chars: int, error: type[SequoiaError]) -> dict[str, Any]:
    """The object in a file of format `kind`, version 1. Its size is looked at first; NaN and
    Infinity are no JSON."""
    if not isinstance(text, str):
        raise error(f"a {kind} file is text, not {shown(text)}")
    if len(text) > max_chars:
        raise error(f"a {kind} file of {len(text)} characters is over the {max_chars} allowed")
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise error(f"not a JSON file: {problem}") from None
    return check_format(data, kind, error)


def check_format(data: Any, kind: str, error: type[SequoiaError]) -> dict[str, Any]:
    """`data` if it is an object of format `kind`, version 1."""
    if (
        not isinstance(data, dict)
        or data.get("format") != kind
        or type(data.get("version")) is not int
        or data["version"] != 1
    ):
        other = (
            f", and says {shown(data['format'])}"
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
    """What `read` makes of the object in the file of a `name`, format "sequoia-{name}". Raises
    `error`, and nothing else, whatever `read` meets in it."""
    return read_dict(read_json(text, f"sequoia-{name}", max_chars, error), name, error, read)


def read_dict(
    data: Any, name: str, error: type[SequoiaError], read: Callable[[dict[str, Any]], T]
) -> T:
    """What `read` makes of the JSON values of a `name` file, format "sequoia-{name}". Raises
    `error`, and nothing else, whatever `read` meets in them."""
    data = check_format(data, f"sequoia-{name}", error)
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
    """`data`, made by `as_file`, as text that `read_file` takes. Raises `error` where it would be
    too large."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if len(text) > max_chars:
        raise error(
            f"the {name} takes {len(text)} characters; a {name} file has at most {max_chars}"
        )
    return text


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")
