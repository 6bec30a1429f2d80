"""The cases that the page's walk is tested against are what the verifiers give today."""

from __future__ import annotations

import json

from walk_cases import FILE, cases


def test_the_written_cases_are_those_of_the_verifiers() -> None:
    """If it fails, write them again, with tests/walk_cases.py."""
    assert json.loads(FILE.read_text(encoding="utf-8")) == cases()
