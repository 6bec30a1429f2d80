"""Checks at the border: numbers and files from outside become plain values, or the caller's own SequoiaError. Knows no format."""

from __future__ import annotations

import json
from numbers import Integral, Real
from typing import Any

from .errors import SequoiaError

MAX_SHOWN = 40


def shown(value: Any) -> str:
    """`value` for an error message: short, and safe for integers of any length and lists of any depth."""
    if isinstance(value, str):
        return repr(value[:MAX_SHOWN])
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, Integral):
        value = int(value)
        return str(value) if abs(value) < 10**MAX_SHOWN else f"an integer of {value.bit_length()} bits"
    return f"a {type(value).__name__}"


def whole(value: Any, what: str, low: int, high: int, error: type[SequoiaError]) -> int:
    """`value` as an int from `low` to `high`; True and 4.0 are refused."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise error(f"{what}: {shown(value)} is not a whole number from {low} to {high}")
    return int(value)


def number(value: Any, what: str, low: float, high: float, error: type[SequoiaError]) -> float:
    """`value` as a float between the finite `low` and `high`; True is refused, and NaN is between nothing."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= value <= high:  # pyright: ignore[reportOperatorIssue]
        raise error(f"{what}: {shown(value)} is not a number from {low:g} to {high:g}")
    return float(value)


def read_json(text: Any, kind: str, max_chars: int, error: type[SequoiaError]) -> dict[str, Any]:
    """The object in a file of format `kind`, version 1. Its size is looked at first; NaN and Infinity are no JSON."""
    if not isinstance(text, str):
        raise error(f"a {kind} file is text, not {shown(text)}")
    if len(text) > max_chars:
        raise error(f"a {kind} file of {len(text)} characters is over the {max_chars} allowed")
    try:
        data = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise error(f"not a JSON file: {problem}") from None
    if not isinstance(data, dict) or data.get("format") != kind or type(data.get("version")) is not int or data["version"] != 1:
        raise error(f"not a {kind} file: it needs format {kind!r} and version 1")
    return data


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")
