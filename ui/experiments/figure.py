"""The figure of an experiment, in Plotly's format: one plot per panel, all with the same axes. The
browser adds the style of each method, and chooses a layout by the width of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plotly.subplots import make_subplots

from ui.shared.markup import plotly_text

View = Mapping[str, Any]  # a result as `Words.view` makes it
WIDTHS = (340, 640, 1000)  # px: the width that the layout of 1, 2 and 3 columns is made for
LEFT, RIGHT, BOTTOM = 56, 14, 44  # px, margins
ONE, SEVERAL = 300, 170  # px, height of the only plot, and of each of several
ACROSS, DOWN = 44, 74  # px between plots
TITLE = 24  # px above a plot
LETTER, MARK, LINE = 7, 48, 20  # px, about: a letter of the legend, a mark, the height of a line
MOST_TICKS = 8
CLEAR = "rgba(0,0,0,0)"
EVERYWHERE: Any = "all"  # Plotly's type hints lack this value


def figure(view: View) -> dict[str, Any]:
    """`data`, a trace for each series, whose method is its `meta`; `layouts` by the number of
    columns, from 1. No layouts for a result without series."""
    panels = [*dict.fromkeys(one["panel"] for one in view["series"])]
    widths = WIDTHS if panels else ()
    layouts = [_layout(view, panels, columns, width) for columns, width in enumerate(widths, 1)]
    return {"data": [*_traces(view, panels)], "layouts": layouts}


def _layout(view: View, panels: Sequence[str], most: int, width: int) -> dict[str, Any]:
    """most: the largest number of columns. width: px."""
    rows = math.ceil(len(panels) / most)
    columns = math.ceil(len(panels) / rows)  # four plots: 2 and 2, not 3 and 1
    across = width - LEFT - RIGHT
    height = rows * (SEVERAL if len(panels) > 1 else ONE) + (rows - 1) * DOWN
    top = _legend_height(view, across) + TITLE
    made = make_subplots(
        rows,
        columns,
        specs=[
            [{} if row * columns + column < len(panels) else None for column in range(columns)]
            for row in range(rows)
        ],
        subplot_titles=[plotly_text(one) for one in panels],
        shared_xaxes=EVERYWHERE,
        shared_yaxes=EVERYWHERE,
        horizontal_spacing=ACROSS / across,
        vertical_spacing=DOWN / height,
    )
    x, y = _axes(view)
    made.update_xaxes(x, automargin=False, showticklabels=True)
    made.update_yaxes(y, automargin=False, showticklabels=True)
    made.update_yaxes(title_text=plotly_text(view["y"]["label"]), col=1)
    made.update_annotations(bgcolor=CLEAR, bordercolor=CLEAR, font_size=12)
    made.update_layout(
        template="none",
        height=height + top + BOTTOM,
        margin={"l": LEFT, "r": RIGHT, "b": BOTTOM, "t": top},
        showlegend=len(_names(view)) > 1,
        legend={"y": 1 + TITLE / height, "yanchor": "bottom", "tracegroupgap": 0},
        hovermode="closest",
    )
    return made.layout.to_plotly_json()


def _names(view: View) -> list[str]:
    return [*dict.fromkeys(plotly_text(one["name"]) for one in view["series"])]


def _legend_height(view: View, width: int) -> int:
    """Height in px; 0 without a legend. Its entries wrap like the words of a text."""
    lines, used = 1, 0
    names = _names(view)
    for name in names:
        entry = len(name) * LETTER + MARK
        if used and used + entry > width:
            lines, used = lines + 1, 0
        used += entry
    return lines * LINE + 6 if len(names) > 1 else 0


# -- axes ------------------------------------------------------------------------------------------


def _axes(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    points = [point for one in view["series"] for point in one["points"]]
    ends = (point[end] for point in points for end in ("mean", "low", "high"))
    x = _axis(view["x"], [point["x"] for point in points])
    y = _axis(view["y"], [one for one in ends if one is not None])
    from_zero = {} if view["y"]["scale"] == "log" else {"rangemode": "tozero"}
    return {**x, "title": {"text": plotly_text(view["x"]["label"])}}, {**y, **from_zero}


def _axis(about: View, values: Sequence[float]) -> dict[str, Any]:
    if about["scale"] != "log":
        return {}
    ticks = log_ticks(values)
    if len(ticks) < 2:
        return {"type": "log"}
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:.3g}" for tick in ticks]}


def log_ticks(values: Sequence[float]) -> list[float]:
    """The ticks of a logarithmic axis, at most MOST_TICKS. If all values are whole numbers and the
    largest is at least 8, the ticks are powers of two. Otherwise they are 1, 2 and 5 times powers
    of ten, or only powers of ten if the axis is long. Values that are not positive are ignored."""
    above = [value for value in values if value > 0]
    if not above:
        return []
    low, high = min(above), max(above)
    if high >= 8 and all(value == int(value) for value in above):
        ticks = [2.0**power for power in range(int(math.log2(high)) + 1)]
    else:
        steps = (1,) if high / low > 300 else (1, 2, 5)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    found = [tick for tick in ticks if 0.999 * low <= tick <= 1.001 * high]
    return found[:: max(math.ceil(len(found) / MOST_TICKS), 1)]


# -- lines -----------------------------------------------------------------------------------------


def _traces(view: View, panels: Sequence[str]) -> Iterator[dict[str, Any]]:
    labels = {axis: plotly_text(view[axis]["label"]) for axis in ("x", "y")}
    seen = set[str]()
    for one in view["series"]:
        i = panels.index(one["panel"])
        place = str(i + 1) if i else ""
        name = plotly_text(one["name"])
        points = one["points"]
        yield {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "legendgroup": name,
            "showlegend": name not in seen,
            "meta": one["method"],
            "xaxis": f"x{place}",
            "yaxis": f"y{place}",
            "x": [point["x"] for point in points],
            "y": [point["mean"] for point in points],
            "text": [_interval(point) for point in points],
            "error_y": _errors(points),
            "hovertemplate": (
                f"<b>{name}</b><br>{labels['y']}: %{{y:.4~g}}%{{text}}"
                f"<br>{labels['x']}: %{{x}}<extra></extra>"
            ),
        }
        seen.add(name)


def _interval(point: View) -> str:
    low, high = point["low"], point["high"]
    return "" if low is None or high is None else f" (95% CI {low:.3g} to {high:.3g})"


def _errors(points: Sequence[View]) -> dict[str, Any]:
    return {
        "type": "data",
        "visible": any(point["low"] is not None for point in points),
        "symmetric": False,
        "array": [(point["high"] or point["mean"]) - point["mean"] for point in points],
        "arrayminus": [point["mean"] - (point["low"] or point["mean"]) for point in points],
        "thickness": 1.2,
        "width": 2,
    }
