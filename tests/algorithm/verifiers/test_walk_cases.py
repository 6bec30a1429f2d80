"""The recorded cases that the page's walk is tested against still match the verifiers."""

from __future__ import annotations

import json

from walk_cases import FILE, cases


def test_the_written_cases_are_those_of_the_verifiers() -> None:
    """If this test fails, run tests/walk_cases.py to write the cases again."""
    assert json.loads(FILE.read_text(encoding="utf-8")) == cases()
