"""The figure of an experiment, in Plotly's format: one plot per panel, all with the same axes. The
browser adds the style of each method, and chooses a layout by the width of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ui.shared.markup import plotly_text

View = Mapping[str, Any]  # a result as `Words.view` makes it
Share = list[float]
WIDTHS = (340, 640, 1000)  # px: the width that the layout of 1, 2 and 3 columns is made for
LEFT, RIGHT, BOTTOM = 56, 14, 44  # px, margins
ONE, SEVERAL = 300, 170  # px, height of the only plot, and of each of several
ACROSS, DOWN = 44, 74  # px between plots
TITLE = 24  # px above a plot
LETTER, MARK, LINE = 7, 48, 20  # px, about: a letter of the legend, a mark, the height of a line
CLEAR = "rgba(0,0,0,0)"


def figure(view: View) -> dict[str, Any]:
    """`data`, a trace for each series, whose method is its `meta`; `layouts` by the number of
    columns, from 1. No layouts for a result without series."""
    panels = [*dict.fromkeys(one["panel"] for one in view["series"])]
    widths = WIDTHS if panels else ()
    layouts = [_layout(view, panels, columns, width) for columns, width in enumerate(widths, 1)]
    return {"data": [*_traces(view, panels)], "layouts": layouts}


def _layout(view: View, panels: Sequence[str], most: int, width: int) -> dict[str, Any]:
    """Plain values: Plotly's own make_subplots takes a second for a large figure. most: the largest
    number of columns. width: px."""
    rows = math.ceil(len(panels) / most)
    columns = math.ceil(len(panels) / rows)  # four plots: 2 and 2, not 3 and 1
    wide = width - LEFT - RIGHT
    height = rows * ((SEVERAL if len(panels) > 1 else ONE) + DOWN) - DOWN
    top = _legend_height(view, wide) + TITLE
    across = _shares(columns, ACROSS / wide)
    down = _shares(rows, DOWN / height)[::-1]  # from the top
    cells = [(x, y) for y in down for x in across][: len(panels)]
    return {
        "height": height + top + BOTTOM,
        "margin": {"l": LEFT, "r": RIGHT, "b": BOTTOM, "t": top},
        "showlegend": len(_names(view)) > 1,
        "legend": {"y": 1 + TITLE / height, "yanchor": "bottom", "tracegroupgap": 0},
        "hovermode": "closest",
        "annotations": [_title(one, x[0], y[1]) for one, (x, y) in zip(panels, cells, strict=True)],
        **_all_axes(view, cells),
    }


def _all_axes(view: View, cells: Sequence[tuple[Share, Share]]) -> dict[str, Any]:
    x, y = _axes(view)
    made = dict[str, Any]()
    for i, (across, down) in enumerate(cells):
        title = plotly_text(view["y"]["label"]) if across[0] == 0 else ""
        made[f"xaxis{_end(i)}"] = {**x, **_place("x", i), "domain": across}
        made[f"yaxis{_end(i)}"] = {**y, **_place("y", i), "domain": down, "title": {"text": title}}
    return made


def _shares(count: int, gap: float) -> list[Share]:
    """[start, end] of each of `count` plots, with `gap` between two; the whole is 1."""
    size = (1 + gap) / count
    return [[i * size, min((i + 1) * size - gap, 1)] for i in range(count)]


def _end(i: int) -> str:
    """How the names of the axes of the plot `i` end."""
    return str(i + 1) if i else ""


def _place(axis: str, i: int) -> dict[str, Any]:
    """The axis that crosses this one, and for all but the first plot, the axis that it equals."""
    other = "y" if axis == "x" else "x"
    return {"automargin": False, "anchor": other + _end(i), **({"matches": axis} if i else {})}


def _title(panel: str, x: float, y: float) -> dict[str, Any]:
    at = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    look = {"showarrow": False, "bgcolor": CLEAR, "bordercolor": CLEAR}
    return {"text": plotly_text(panel), **at, **look}


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
    """Logarithmic x axes are of whole numbers, with a tick at each power of two."""
    x, y = (
        {"type": view[name]["scale"], "title": {"text": plotly_text(view[name]["label"])}}
        for name in ("x", "y")
    )
    ticks = {"tickvals": [2**i for i in range(11)]} if x["type"] == "log" else {}
    return {**x, **ticks}, {**y, **({} if y["type"] == "log" else {"rangemode": "tozero"})}


# -- lines -----------------------------------------------------------------------------------------


def _traces(view: View, panels: Sequence[str]) -> Iterator[dict[str, Any]]:
    labels = {axis: plotly_text(view[axis]["label"]) for axis in ("x", "y")}
    seen = set[str]()
    for one in view["series"]:
        place = _end(panels.index(one["panel"]))
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
