"""The recorded results that the Lossless tab shows at first. They must come from the current
settings and agree with what the page says about them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sequoia.exactness.losslessness.losslessness_test import LosslessnessTest
from sequoia.exactness.losslessness.settings import PRESETS
from ui.record import __main__ as command
from ui.record.__main__ import BROKEN_WITH, LOSSLESSNESS
from ui.words.losslessness import decoder_name


def test_the_recorded_results_have_the_settings_of_the_form() -> None:
    recorded = json.loads(LOSSLESSNESS.read_text(encoding="utf-8"))
    assert recorded["machine"]
    assert recorded["date"].startswith("20")
    right, wrong = recorded["tests"]
    assert (right["kind"], wrong["kind"]) == ("fits", "differs")
    for found, key in ((right, "none"), (wrong, BROKEN_WITH)):
        setting = PRESETS[key]
        grouping = LosslessnessTest(setting).grouping
        shares = grouping.grouped(grouping.shares)
        assert found["decoder"] == decoder_name(setting.decoding.bug)
        assert found["draws"] == setting.samples == sum(row["seen"] for row in found["rows"])
        assert [row["share"] for row in found["rows"]] == pytest.approx(shares)
    # as the page says, the broken decoder's first tokens have the target's probabilities, but its
    # pairs of tokens do not
    for letter, share in zip("abc", (0.1, 0.3, 0.6), strict=True):
        seen = sum(row["seen"] for row in wrong["rows"] if row["tokens"][0] == letter)
        assert seen / wrong["draws"] == pytest.approx(share, abs=0.015)
    assert wrong["distance"] > 10 * wrong["floor"]


def test_the_command_writes_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few = {key: replace(setting, samples=500) for key, setting in PRESETS.items()}
    monkeypatch.setattr(command, "PRESETS", few)
    path = tmp_path / "made.json"
    assert command.main(["losslessness", "--out", str(path)]) == 0
    made = json.loads(path.read_text(encoding="utf-8"))
    assert [test["broken"] for test in made["tests"]] == [None, BROKEN_WITH]
    assert [test["draws"] for test in made["tests"]] == [500, 500]
