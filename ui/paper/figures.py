"""The figures of the Paper tab, in Plotly's format: simulated speed-ups against the paper's, and
published speeds on one scale. Colours are variables of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from sequoia.planning.paper_results import OURS, PaperResult, PaperTable, paper_tables
from sequoia.planning.published import Published, published_figures
from ui.paper.tables import METHODS, titled
from ui.shared.markup import plotly_text

# panel of the paper's tables -> name in the legend, colour, symbol
GROUPS = {
    "a100": ("A100, 7B", "var(--sq-verify)", "circle"),
    "a100-larger": ("A100, 13B and 33B", "var(--race-sequences)", "square"),
    "l40": ("L40", "var(--race-chain)", "diamond"),
    "offload": ("L40, offloading", "var(--race-kary)", "triangle-up"),
    "top-p": ("A100, 7B, top-p 0.8 to 1", "var(--race-dynamic)", "triangle-down"),
}
TICKS = [1.5, 2, 3, 4, 6, 8, 10]
SCALE_TICKS = [0.25, 0.5, 1, 2, 4, 8]
# kind of a published figure -> name in the legend, colour
KINDS = {
    "plain": ("plain", "var(--sq-ghost)"),
    "speculative": ("speculative", "var(--sq-verify)"),
    "own": ("this program", "var(--race-sequoia)"),
}
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


def _hover(table: PaperTable, title: str, result: PaperResult) -> str:
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


# -- one scale -------------------------------------------------------------------------------------


def scale_figure() -> go.Figure:
    """A line for each published figure, with two marks: how many times as fast as the floor of
    plain decoding (filled), and the speed-up that its source states (open)."""
    figures = published_figures()
    stated = [one for one in figures if one.claimed]
    links = [
        go.Scatter(
            mode="lines",
            x=[one.over_floor, one.claimed],
            y=[_place(one)] * 2,
            line={"color": "var(--sq-edge)", "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        )
        for one in stated
    ]
    marks = [
        _marks([one for one in figures if _kind(one) == kind], name, colour)
        for kind, (name, colour) in KINDS.items()
    ]
    layout = {
        "template": "none",
        "xaxis": {
            "title": {"text": "times the floor of plain decoding"},
            "type": "log",
            "range": [math.log10(0.19), math.log10(18)],
            "tickvals": SCALE_TICKS,
            "ticktext": [f"{tick:g}×" for tick in SCALE_TICKS],
        },
        "yaxis": {
            "categoryorder": "array",
            "categoryarray": [_place(one) for one in figures[::-1]],  # the first is at the bottom
            "showticklabels": False,
            "ticks": "",
        },
        "annotations": [_name(one) for one in figures],
        "showlegend": True,
    }
    made = go.Figure([*links, *marks, _stated(stated)], layout=layout)
    return made.add_vline(1, line={"color": "var(--sq-dim)", "width": 1.5, "dash": "dot"})


def _name(one: Published) -> dict[str, Any]:
    """The name of a line, above its left end: beside the plot, it would not fit on a phone."""
    return {
        "text": _place(one),
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "y": _place(one),
        "yshift": 11,
        "showarrow": False,
        "bgcolor": "rgba(0,0,0,0)",
        "bordercolor": "rgba(0,0,0,0)",
    }


def _kind(one: Published) -> str:
    if one.label != "paper":
        return "own"
    return "speculative" if one.claimed else "plain"


def _marks(figures: Sequence[Published], name: str, colour: str) -> go.Scatter:
    return go.Scatter(
        mode="markers+text",
        name=name,
        x=[round(one.over_floor, 3) for one in figures],
        y=[_place(one) for one in figures],
        text=[f"{one.over_floor:.2f}" for one in figures],
        textposition=["middle left" if one.claimed else "middle right" for one in figures],
        marker={"color": colour, "size": 10},
        customdata=[(one.ms, one.tokens_per_second, one.label) for one in figures],
        hovertemplate=(
            "%{y}<br>%{customdata[0]:.4g} ms a token, %{customdata[1]:.4g} tokens/s "
            "(%{customdata[2]})<extra></extra>"
        ),
    )


def _stated(figures: Sequence[Published]) -> go.Scatter:
    return go.Scatter(
        mode="markers+text",
        name="speed-up as stated",
        x=[one.claimed for one in figures],
        y=[_place(one) for one in figures],
        text=[f"{one.claimed:.2f}×" for one in figures],
        textposition="middle right",
        marker={"color": "var(--sq-dim)", "symbol": "circle-open", "size": 10},
        hovertemplate="%{y}<br>%{x:.2f}× as stated<extra></extra>",
    )


def _place(one: Published) -> str:
    return plotly_text(f"{one.system}, {one.model}")
