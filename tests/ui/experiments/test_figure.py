"""The figure of an experiment: where its plots are, and its lines."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from ui.experiments.figure import figure

PANELS = ("code, T = 0", "code, T = 0.6", "prose, T = 0", "prose, T = 0.6")


def point(x: float, mean: float, half: float | None = 0.1) -> dict[str, Any]:
    ends = (None, None) if half is None else (mean - half, mean + half)
    return {"x": x, "mean": mean, "low": ends[0], "high": ends[1], "prompts": 8}


def view(*series: tuple[str, str], scale: str = "linear", half: float | None = 0.1) -> Any:
    """A result with a series for each name and panel."""
    points = [point(16, 3, half), point(64, 4, half)]
    return {
        "x": {"name": "nodes", "label": "nodes", "scale": "log"},
        "y": {"name": "tokens", "label": "tokens per step", "scale": scale},
        "series": [
            {"name": name, "method": "chain", "panel": panel, "points": points}
            for name, panel in series
        ],
    }


FOUR = view(*((name, panel) for panel in PANELS for name in ("Sequoia", "chain")))


def test_each_panel_has_its_own_plot_and_plots_do_not_overlap() -> None:
    for columns, layout in enumerate(figure(FOUR)["layouts"], 1):
        boxes = [
            (layout[f"xaxis{end}"]["domain"], layout[f"yaxis{end}"]["domain"])
            for end in ("", 2, 3, 4)
        ]
        for one, other in combinations(boxes, 2):
            assert any(a[1] < b[0] or b[1] < a[0] for a, b in zip(one, other, strict=True))
        assert len({tuple(x) for x, _ in boxes}) == min(columns, 2)  # 2 and 2, not 3 and 1
        assert [one["text"] for one in layout["annotations"]] == [*PANELS]
    heights = [layout["height"] for layout in figure(FOUR)["layouts"]]
    assert heights[0] > 1.5 * heights[1]


def test_a_name_appears_once_in_the_legend_and_in_every_panel() -> None:
    data = [one for one in figure(FOUR)["data"] if one["name"] == "Sequoia"]
    assert [one["showlegend"] for one in data] == [True, False, False, False]
    assert [one["xaxis"] for one in data] == ["x", "x2", "x3", "x4"]
    assert all(one["meta"] == "chain" for one in data)


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
