"""Checks of fields of run files and race files. A wrong field raises BadTrace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sequoia.algorithm.expected_steps import SEGMENTS, ExpectedSteps
from sequoia.errors import BadTrace
from sequoia.validate_input import number, short_text, shown, whole

MAX_HOW = 2000  # characters of the description of a tree
MAX_TEXT = 1000  # characters of a text for which the caller sets no other limit
MAX_EXPECTED_TEXTS = 4  # a race has at most four lanes, and one text for each
MAX_TEXT_TOKENS = 1_000_000  # of one text; a segment cannot have more expected steps either


def list_of(values: Any, what: str, most: int) -> list[Any]:
    """`values` if it is a list of at most `most` entries. what: its name in messages."""
    if not isinstance(values, list):
        raise BadTrace(f"{what}: {shown(values)}; expected a list of at most {most}")
    if len(values) > most:
        raise BadTrace(f"{what}: a list of {len(values)}; expected at most {most}")
    return values


def text_of(value: Any, what: str, most: int = MAX_TEXT) -> str:
    """`value` if it is a string of at most `most` characters. what: its name in messages."""
    return short_text(value, what, most, BadTrace)


def expected_to_dict(expected: ExpectedSteps) -> dict[str, Any]:
    """`expected` as JSON values: {tokens: [number of tokens of each text], steps: [a list for each
    text: the expected steps in each segment]}."""
    steps = [[round(value, 4) for value in of_text] for of_text in expected.steps]
    return {"tokens": list(expected.tokens), "steps": steps}


def expected_of(data: Mapping[str, Any], what: str) -> ExpectedSteps:
    """The expected steps that `expected_to_dict` wrote as `data`. what: the start of messages, such
    as "lane 1". Raises BadTrace, or KeyError for a missing field."""
    tokens = list_of(data["tokens"], f"{what}: tokens of texts", MAX_EXPECTED_TEXTS)
    steps = list_of(data["steps"], f"{what}: expected steps", MAX_EXPECTED_TEXTS)
    found = ExpectedSteps(
        tuple(whole(one, f"{what}: tokens", 1, MAX_TEXT_TOKENS, BadTrace) for one in tokens),
        tuple(_segments(of_text, f"{what}: expected steps") for of_text in steps),
    )
    if not tokens or len(tokens) != len(steps):
        raise BadTrace(
            f"{what}: {len(tokens)} texts, but {len(steps)} lists of expected steps; the two "
            "numbers must be equal and at least 1"
        )
    if not all(map(sum, found.steps)):
        raise BadTrace(f"{what}: the expected steps of a text must not all be 0")
    return found


def _segments(values: Any, what: str) -> tuple[float, ...]:
    if len(list_of(values, what, SEGMENTS)) != SEGMENTS:
        raise BadTrace(f"{what}: {len(values)} segments; expected {SEGMENTS}")
    return tuple(number(value, what, 0, MAX_TEXT_TOKENS, BadTrace) for value in values)
