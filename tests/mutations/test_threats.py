"""The list of threats fits the code: each defence is in its file, and each test exists.
`python tests/mutations/try_all.py` finds out whether the tests fail without the defences, and notes
it in tried.json."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from threats import MUTATIONS, TRIED, Mutation

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.threat)
def test_the_defence_and_its_test_are_there(mutation: Mutation) -> None:
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
    file, _, name = mutation.test.partition("::")
    assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")


def test_what_was_tried_is_what_is_there() -> None:
    """Guards against a note in tried.json that no longer equals its entry in threats.py. If this
    fails, run try_all.py with --rest."""
    present = {one.threat: asdict(one) for one in MUTATIONS}
    noted = json.loads(TRIED.read_text(encoding="utf-8"))
    assert noted
    for one in noted:
        assert one.pop("found").startswith("noticed"), one
        assert one == present[one["threat"]]
