"""The list of threats to the app (threats.py) fits the code: each defence is in its file, and each
test exists. `python tests/mutations/try_all.py` checks that each test fails without its defence,
and writes the results to tried.json."""

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


def test_the_results_in_tried_json_match_the_present_threats() -> None:
    """Guards against a result in tried.json for an entry of threats.py that has changed since. If
    this fails, run try_all.py with --rest."""
    present = {one.threat: asdict(one) for one in MUTATIONS}
    noted = json.loads(TRIED.read_text(encoding="utf-8"))
    assert noted
    for one in noted:
        assert one.pop("found").startswith("noticed"), one
        assert one == present[one["threat"]]
