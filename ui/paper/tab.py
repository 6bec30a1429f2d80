"""The Paper tab: tables that the server writes once, and a figure that the browser draws, of
simulated speed-ups plotted against the paper's."""

from __future__ import annotations

from typing import Any

import gradio as gr
import plotly.graph_objects as go

from sequoia.planning.paper_results import OURS, PaperTable, Result, paper_tables
from sequoia.validate_input import json_text
from ui.paper.contents import page
from ui.paper.tables import METHODS, titled
from ui.shared.layout import drawn


class PaperTab:
    """The tab's component."""

    def build(self) -> None:
        """Lay the view out in the current container."""
        drawn("pp", "paper/paper_view", [], page(), asked=self.get_speedups_figure)

    def wire(self, _blocks: gr.Blocks) -> None:
        """Does nothing: the tab has no handlers."""

    def get_speedups_figure(self, _asked: Any) -> str:
        """The figure, as JSON. Made when the tab is first shown: Plotly takes a while to load."""
        return json_text({"figure": speedups_figure().to_plotly_json()})


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


def speedups_figure() -> go.Figure:
    """A marker for each simulated speed-up. It lies on the diagonal if paper and simulation agree.
    Filled markers are for Sequoia, open ones for the other methods."""
    low, high = RANGE
    traces = [_trace(panel, is_sequoia) for is_sequoia in (True, False) for panel in GROUPS]
    layout = {
        "template": "none",  # the page's colours and fonts are added when it is drawn
        "xaxis": _axis("speed-up in the paper"),
        "yaxis": _axis("simulated speed-up"),
        "showlegend": True,
    }
    made = go.Figure(traces, layout=layout)
    return made.add_shape(
        type="line",
        layer="below",
        x0=10**low,
        y0=10**low,
        x1=10**high,
        y1=10**high,
        line={"color": "var(--sq-dim)", "width": 1.5, "dash": "dot"},
    )


def _trace(panel: str, is_sequoia: bool) -> go.Scatter:
    name, colour, symbol = GROUPS[panel]
    points = [
        (table, row.texts, row.temperature, result)
        for table in paper_tables()
        if table.panel == panel
        for row in table.rows
        for result in row.results
        if (result.method == OURS) == is_sequoia
    ]
    return go.Scatter(
        mode="markers",
        name=name,
        showlegend=is_sequoia,
        x=[result.speedup for *_, result in points],
        y=[round(table.simulated(result), 3) for table, *_, result in points],
        text=[_hover(table, titled(texts, t), result) for table, texts, t, result in points],
        marker={
            "symbol": symbol if is_sequoia else f"{symbol}-open",
            "color": colour,
            "size": 9,
            "line": {"width": 1.6},
        },
        hovertemplate="%{text}<br>paper %{x:.2f}×, simulated %{y:.2f}×<extra></extra>",
    )


def _hover(table: PaperTable, title: str, result: Result) -> str:
    return f"<b>{METHODS[result.method]}</b>, {table.target} on {table.machine}<br>{title}"


def _axis(title: str) -> dict[str, Any]:
    return {
        "title": {"text": title},
        "type": "log",
        "range": RANGE,
        "tickvals": TICKS,
        "ticktext": [f"{tick:g}" for tick in TICKS],
        "ticksuffix": "×",
    }
