"""The Paper tab: tables that the server writes once, and a figure that the browser draws, of
simulated speed-ups plotted against the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from sequoia.planning.paper_results import OURS, PaperTable, Result, paper_tables
from sequoia.validate_input import json_text
from ui.paper.contents import page
from ui.paper.tables import METHODS, titled
from ui.shared.layout import drawn


class PaperTab:
    """The tab's component."""

    def build(self) -> None:
        """Lay the view out in the current container."""
        figure = json_text({"figure": speedups_figure()})
        drawn("pp", "paper/paper_view", [], page(), value=figure)

    def wire(self, _blocks: gr.Blocks) -> None:
        """Does nothing: the tab has no handlers."""


Figure = dict[str, Any]

# panel of the paper's tables -> name in the legend, colour, symbol
GROUPS = {
    "a100": ("A100, 7B", "var(--sq-verify)", "circle"),
    "a100-larger": ("A100, 13B and 33B", "var(--race-sequences)", "square"),
    "l40": ("L40", "var(--race-chain)", "diamond"),
    "offload": ("L40, offloading", "var(--race-kary)", "triangle-up"),
    "top-p": ("A100, 7B, top-p 0.8 to 1", "var(--race-dynamic)", "triangle-down"),
}
TICKS = [1.5, 2, 3, 4, 6, 8, 10]
RANGE = (0.16, 1.08)  # of both axes, as log10: 1.4 to 12, so that no marker is cut


def speedups_figure() -> Figure:
    """A marker for each simulated speed-up. It lies on the diagonal if paper and simulation agree.
    Filled markers are for Sequoia, open ones for the other methods."""
    traces = [_trace(panel, is_sequoia) for is_sequoia in (True, False) for panel in GROUPS]
    return {"data": traces, "layout": _layout()}


def _trace(panel: str, is_sequoia: bool) -> dict[str, Any]:
    name, colour, symbol = GROUPS[panel]
    points = [
        (table, row.texts, row.temperature, result)
        for table in paper_tables()
        if table.panel == panel
        for row in table.rows
        for result in row.results
        if (result.method == OURS) == is_sequoia
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "showlegend": is_sequoia,
        "x": [result.speedup for *_, result in points],
        "y": [round(table.simulated(result), 3) for table, *_, result in points],
        "text": [_hover(table, titled(texts, t), result) for table, texts, t, result in points],
        "marker": {
            "symbol": symbol if is_sequoia else f"{symbol}-open",
            "color": colour,
            "size": 9,
            "line": {"width": 1.6},
        },
        "hovertemplate": "%{text}<br>paper %{x:.2f}×, simulated %{y:.2f}×<extra></extra>",
    }


def _hover(table: PaperTable, title: str, result: Result) -> str:
    return f"<b>{METHODS[result.method]}</b>, {table.target} on {table.machine}<br>{title}"


def _layout() -> dict[str, Any]:
    low, high = RANGE
    ends = (10**low, 10**high)
    line = {"color": "var(--sq-dim)", "width": 1.5, "dash": "dot"}
    return {
        "xaxis": _axis("speed-up in the paper"),
        "yaxis": _axis("simulated speed-up"),
        "shapes": [
            {
                "type": "line",
                "layer": "below",
                "x0": ends[0],
                "y0": ends[0],
                "x1": ends[1],
                "y1": ends[1],
                "line": line,
            }
        ],
        "showlegend": True,
    }


def _axis(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title},
        "type": "log",
        "range": list(RANGE),
        "tickvals": TICKS,
        "ticktext": _texts(TICKS),
        "ticksuffix": "×",
    }


def _texts(ticks: Sequence[float]) -> list[str]:
    return [f"{tick:g}" for tick in ticks]
