"""Checks that the fields of run files and race files share. They raise BadTrace."""

from __future__ import annotations

from typing import Any

from sequoia.errors import BadTrace
from sequoia.validate_input import short_text, shown

MAX_TEXT = 1000


def list_of(values: Any, what: str, most: int) -> list[Any]:
    """`values`, which must be a list of at most `most` entries."""
    if not isinstance(values, list) or len(values) > most:
        raise BadTrace(f"{what}: {shown(values)}; expected a list of at most {most}")
    return values


def text_of(value: Any, what: str, most: int = MAX_TEXT) -> str:
    """`value`, which must be a string of at most `most` characters, all of them whole."""
    short_text(value, what, most, BadTrace)
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise BadTrace(
            f"{what}: {value[:40]!a} contains half a character (a lone surrogate), which no page "
            "can show"
        )
    return value
