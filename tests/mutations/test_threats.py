"""The list of threats to the app (threats.py) fits the code: each defence is in its file, and each
test exists. `python tests/mutations/try_all.py` checks that each test fails without its defence."""

from __future__ import annotations

from pathlib import Path

import pytest
from threats import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.threat)
def test_the_defence_and_its_test_are_there(mutation: Mutation) -> None:
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
    file, _, name = mutation.test.partition("::")
    assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")
