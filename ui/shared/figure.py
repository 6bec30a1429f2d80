"""Plotly figures made in Python, for the page's chart module (ui/shared/web/chart.js). Colours are
written as `var(--name)`; the chart module inserts the values of the theme."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go


def figure(*traces: Any, **layout: Any) -> go.Figure:
    """A figure without Plotly's own colours and fonts: those of the page are added when it is
    drawn."""
    return go.Figure(traces, layout={"template": "none", **layout})
