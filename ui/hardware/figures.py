"""Plotly figures of hardware profiles, plans and runs. Pure.

Colours are written as `var(--name)`. The browser inserts the values of its theme, so the same
figure works in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import plotly.graph_objects as go

from sequoia.algorithm.step_trace import PHASES
from sequoia.diagnosis.where_time_went import CheckedPrediction
from sequoia.planning.compare_plans import AtBatch, chosen, knee
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.planning.plan_for_machine import SpeedupGrid
from ui.shared.markup import plotly_text

Named = tuple[str, HardwareProfile]

COLOURS = {
    "draft": "var(--sq-draft)",
    "verify": "var(--sq-verify)",
    "overhead": "var(--sq-overhead)",
}
MAX_LEGEND = 16  # characters
_SECOND = "var(--sq-target)"  # colour of the profile to compare with


def verify_curve(profiles: Sequence[Named]) -> go.Figure:
    """t(n): milliseconds of a target pass over n nodes, with error bars. The knee of each profile
    is marked, if it has one."""
    made = _figure(**_axes("nodes in the pass"))
    most = _most(profiles, "target_seconds")
    for i, (name, profile) in enumerate(profiles):
        colour = _SECOND if i else COLOURS["verify"]
        made.add_traces([*_curve(_short(name), profile.target_seconds, most, colour, i)])
        if (bend := knee(profile)) is not None:
            seconds = profile.verify_seconds(bend)
            made.add_trace(_knee(name, bend, seconds, colour))
            if i == 0:
                words = f"knee: {bend} nodes take at<br>least 2× the time of one"
                _note(made, math.log10(bend), seconds * 1e3, words, -44)
    return made.update_layout(showlegend=len(profiles) > 1)


def small_curves(profiles: Sequence[Named]) -> go.Figure:
    """Milliseconds of a draft pass by the nodes in its level, and of the engine's overhead by the
    nodes in the step."""
    title = "nodes of a level (small model) or of the tree (overhead)"
    made = _figure(**_axes(title), showlegend=True)
    for i, (name, profile) in enumerate(profiles):
        for phase, points, word, symbol in (
            ("draft", profile.draft_seconds, "small model", "circle"),
            ("overhead", profile.overhead_seconds, "overhead", "square"),
        ):
            name_of = f"{word}, {_short(name)}" if len(profiles) > 1 else word
            colour = _SECOND if i else COLOURS[phase]
            most = _most(profiles, f"{phase}_seconds")
            made.add_traces([*_curve(name_of, points, most, colour, i, symbol)])
    return made


def heat_map(grid: SpeedupGrid) -> go.Figure:
    """Speed-up by number of nodes and maximum number of levels. The fastest cell is marked."""
    row, column = chosen(grid)
    cells = [
        [
            (plan.expected_tokens, plan.predicted_seconds * 1e3, plan.tree.levels)
            if plan
            else (None, None, None)
            for plan in plans
        ]
        for plans in grid.plans
    ]
    sizes = [str(n) for n in grid.sizes]
    levels = [str(cap) for cap in grid.levels]
    made = _figure(
        xaxis={"title": {"text": "nodes in the tree"}, "type": "category"},
        yaxis={"title": {"text": "max levels"}, "type": "category"},
    )
    made.add_heatmap(
        x=sizes,
        y=levels,
        z=[[None if math.isnan(one) else one for one in line] for line in grid.speedups.tolist()],
        customdata=cells,
        hoverongaps=False,
        xgap=1,
        ygap=1,
        colorscale=[[0, "var(--hw-low)"], [0.5, "var(--hw-middle)"], [1, "var(--hw-high)"]],
        colorbar={"thickness": 10, "outlinewidth": 0, "ticksuffix": "×", "len": 1, "nticks": 6},
        hovertemplate=(
            "<b>%{z:.3f}×</b> plain decoding<br>%{x} nodes, max %{y} levels "
            "(uses %{customdata[2]})<br>%{customdata[0]:.3f} tokens in "
            "%{customdata[1]:.2f} ms<extra></extra>"
        ),
    )
    mark = {"symbol": "square-open", "size": 15, "color": "var(--sq-text)", "line": {"width": 2.5}}
    made.add_scatter(
        x=[sizes[column]],
        y=[levels[row]],
        mode="markers",
        hoverinfo="skip",
        showlegend=False,
        marker=mark,
    )
    below = 26 if row > len(levels) / 2 else -26
    return _note(made, column, row, f"{grid.speedups[row, column]:.2f}×", below)


def batch_lines(plans: Sequence[AtBatch]) -> go.Figure:
    """Speed-up over plain decoding of the same batch, by its size: of the best tree and of the best
    chain."""
    ticks = [plan.batch for plan in plans]
    x = {"title": {"text": "texts at once"}, "type": "log", "tickvals": ticks}
    y = {"title": {"text": "speed-up"}, "ticksuffix": "×", "rangemode": "tozero"}
    made = _figure(xaxis=x, yaxis=y, showlegend=True)
    for name, colour, found in (
        ("best tree", "var(--sq-accent)", [plan.tree for plan in plans]),
        ("best chain", "var(--race-chain)", [plan.chain for plan in plans]),
    ):
        made.add_scatter(
            mode="lines+markers",
            name=name,
            x=ticks,
            y=[one.predicted_speedup for one in found],
            customdata=[len(one.tree) for one in found],
            line={"color": colour, "width": 2},
            hovertemplate="batch %{x}: <b>%{y:.2f}×</b>, %{customdata} nodes<extra>%{fullData.name}"
            "</extra>",
        )
    line = {"color": "var(--sq-dim)", "width": 1.5, "dash": "dot"}
    return made.add_hline(y=1, line=line)


def phase_bars(found: CheckedPrediction) -> go.Figure:
    """Milliseconds of a step by phase, as two stacked bars: predicted and measured."""
    bars = [
        go.Bar(
            orientation="h",
            name=phase,
            y=["measured", "predicted"],
            marker={"color": COLOURS[phase]},
            width=0.6,
            x=[getattr(step, phase) * 1e3 for step in (found.measured, found.predicted)],
            hovertemplate="%{x:.2f} ms %{fullData.name}<extra>%{y}</extra>",
        )
        for phase in PHASES
    ]
    return _figure(
        *bars,
        barmode="stack",
        xaxis={"title": {"text": "ms per step"}, "rangemode": "tozero"},
        yaxis={"showgrid": False},
        showlegend=True,
        legend={"traceorder": "normal"},
    )


# -- parts of figures ------------------------------------------------------------------------------


def _figure(*traces: Any, **layout: Any) -> go.Figure:
    """A figure without Plotly's own colours and fonts: those of the page are added when it is
    drawn."""
    return go.Figure(traces, layout={"template": "none", **layout})


def _short(name: str) -> str:
    """`name` to fit into a legend, and escaped. The middle is left out, because names often differ
    at the end."""
    if len(name) <= MAX_LEGEND:
        return plotly_text(name)
    half = MAX_LEGEND // 2
    return plotly_text(f"{name[:half].rstrip(' ,')}…{name[1 - half :].lstrip()}")


def _curve(
    name: str,
    points: Sequence[Point],
    most: int,
    colour: str,
    profile: int,
    symbol: str = "circle",
) -> Iterator[go.Scatter]:
    """The curve of one profile. If it has only one point, a flat line from this point to the size
    `most` is added, because planning then assumes the same time for any size. profile: 0 for the
    first one (solid), 1 for the one compared with it (dotted)."""
    sizes, seconds, spreads = zip(*points, strict=True)
    above = [spread * 1e3 for spread in spreads]
    below = [min(spread, one) * 1e3 for one, spread in zip(seconds, spreads, strict=True)]
    yield go.Scatter(
        mode="lines+markers",
        name=name,
        x=sizes,
        y=[one * 1e3 for one in seconds],
        line={"color": colour, "width": 2, "dash": "dot" if profile else "solid"},
        marker={"size": 6, "color": colour, "symbol": symbol},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": above,
            "arrayminus": below,  # not below 0 ms
            "thickness": 1.2,
            "width": 3,
            "color": colour,
        },
        customdata=above,
        hovertemplate=(
            "%{x} nodes: <b>%{y:.3f} ms</b> ± %{customdata:.3f}<extra>%{fullData.name}</extra>"
        ),
    )
    if len(points) == 1 and most > sizes[0]:
        yield go.Scatter(
            mode="lines",
            x=[sizes[0], most],
            y=[seconds[0] * 1e3] * 2,
            showlegend=False,
            name=f"{name}: only one size known; same time assumed for any size",
            line={"color": colour, "width": 1, "dash": "longdash"},
            hovertemplate="%{y:.3f} ms<extra>%{fullData.name}</extra>",
        )


def _knee(name: str, size: int, seconds: float, colour: str) -> go.Scatter:
    return go.Scatter(
        mode="markers",
        x=[size],
        y=[seconds * 1e3],
        showlegend=False,
        name=f"knee, {plotly_text(name)}",
        marker={"symbol": "diamond-open", "size": 14, "color": colour, "line": {"width": 2}},
        hovertemplate="%{x} nodes take at least 2× the time of one<extra>%{fullData.name}</extra>",
    )


def _note(made: go.Figure, x: float, y: float, text: str, ay: int) -> go.Figure:
    """Adds an annotation with a line to its point. On a logarithmic axis, x is the logarithm. ay:
    px, from the point down to the text."""
    line = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1}
    return made.add_annotation(x=x, y=y, text=text, ax=0, ay=ay, **line)


def _axes(x: str) -> dict[str, Any]:
    """The x axis is logarithmic, with a tick at each power of two."""
    ticks = [2**i for i in range(11)]
    return {
        "xaxis": {"title": {"text": x}, "type": "log", "tickvals": ticks},
        "yaxis": {"title": {"text": "ms"}, "rangemode": "tozero"},
    }


def _most(profiles: Sequence[Named], name: str) -> int:
    """The largest size in the curve `name` of any profile; 128 if that is only 1."""
    most = max(point[0] for _, profile in profiles for point in getattr(profile, name))
    return most if most > 1 else 128
