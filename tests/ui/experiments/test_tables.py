"""The tables of a result: what they show, and their CSV files."""

from __future__ import annotations

import re
from typing import Any

import pytest
from visits import csv_files

from ui.experiments.tables import tables, verdict_of

VIEW: dict[str, Any] = {
    "name": "budget",
    "target": "<big>${x}",
    "draft": "small",
    "machine": "",
    "date": "2026-11-25",
    "settings": {"kinds": ["code", "prose"], "prompts": 24, "machines": ["h100-llama-2-7b"]},
    "x": {"name": "nodes"},
    "y": {"name": "tokens"},
    "series": [
        {
            "name": "Sequoia",
            "panel": "code, T = 0",
            "points": [
                {"x": 16, "mean": 3.5, "low": 3.1, "high": 3.9, "prompts": 24},
                {"x": 32, "mean": 4, "low": None, "high": None, "prompts": 1},
            ],
        }
    ],
    "columns": [
        {"name": "0", "label": "texts", "kind": ""},
        {"name": "1", "label": "Sequoia", "kind": "recorded"},
        {"name": "2", "label": "C4", "kind": "paper"},
    ],
    "rows": [{"0": "code", "1": 3.456, "2": None}, {"0": "code", "1": 1234, "2": 2.5}],
    "comparisons": [
        {"text": "code: a over b", "ratio": 1.1, "low": 1.01, "high": 1.2},
        {"text": "code: a over c", "ratio": 1, "low": None, "high": None},
    ],
}


def test_the_csv_files_have_every_number_and_its_source() -> None:
    files = csv_files(tables(VIEW, "", ""))
    assert files["sequoia-budget.csv"] == [
        ["experiment", "panel", "series", "nodes", "tokens", "low", "high", "prompts"],
        ["budget", "code, T = 0", "Sequoia", "16", "3.5", "3.1", "3.9", "24"],
        ["budget", "code, T = 0", "Sequoia", "32", "4", "", "", "1"],
    ]
    assert files["sequoia-budget-table.csv"] == [
        ["texts", "Sequoia (recorded)", "C4 (paper)"],
        ["code", "3.456", ""],
        ["code", "1234", "2.5"],
    ]
    assert files["sequoia-budget-ratios.csv"][1] == ["code: a over b", "1.1", "1.01", "1.2"]


def test_names_from_a_file_are_shown_as_text_and_profiles_by_their_machine() -> None:
    shown = tables(VIEW, "note", "")
    assert "&lt;big&gt;&#36;&#123;x&#125;" in shown
    assert not any(one in shown for one in ("<big>", "$", "{"))
    assert "simulated machines: H100" in shown
    assert "Machine" not in re.findall(r"<dt>([^<]*)", shown)  # it has no value


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.01, 1.2, "higher"),
        (0.8, 0.99, "lower"),
        (0.9, 1.1, "no clear difference"),
        (1, 1.1, "no clear difference"),
        (1, 1, "equal"),
        (None, None, ""),
    ],
)
def test_a_comparison_is_clear_only_if_its_whole_interval_is(
    low: float | None, high: float | None, verdict: str
) -> None:
    assert verdict_of(low, high) == verdict
