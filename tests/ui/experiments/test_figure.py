"""The figure of an experiment: its lines and their names."""

from __future__ import annotations

from typing import Any

import pytest

from ui.experiments.figure import figure


def point(x: float, mean: float, half: float | None = 0.1) -> dict[str, Any]:
    ends = (None, None) if half is None else (mean - half, mean + half)
    return {"x": x, "mean": mean, "low": ends[0], "high": ends[1], "prompts": 8}


def view(*series: tuple[str, str], half: float | None = 0.1) -> Any:
    """A result with a series for each name and panel."""
    points = [point(16, 3, half), point(64, 4, half)]
    return {
        "x": {"name": "nodes", "label": "nodes", "scale": "log"},
        "y": {"name": "tokens", "label": "tokens per step", "scale": "linear"},
        "series": [
            {"name": name, "method": "chain", "panel": panel, "points": points}
            for name, panel in series
        ],
    }


def test_error_bars_reach_to_the_ends_of_the_interval() -> None:
    (line,) = figure(view(("a", "p")))["data"]
    assert line["error_y"]["array"] == pytest.approx([0.1, 0.1])
    assert line["error_y"]["arrayminus"] == pytest.approx([0.1, 0.1])
    assert "95% CI 2.9 to 3.1" in line["text"][0]
    (line,) = figure(view(("a", "p"), half=None))["data"]
    assert line["error_y"]["visible"] is False
    assert line["text"] == ["", ""]


def test_tags_in_names_from_a_file_are_shown_as_text() -> None:
    made = figure(view(("<b>", "<i>")))
    assert made["data"][0]["name"] == "&lt;b&gt;"
    assert made["layouts"][0]["annotations"][0]["text"] == "&lt;i&gt;"


def test_a_result_without_series_has_no_plots() -> None:
    assert figure(view()) == {"data": [], "layouts": []}
