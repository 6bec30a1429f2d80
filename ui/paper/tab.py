"""The Paper tab: the paper's claims, and tables that the server writes once. The browser draws two
figures."""

from __future__ import annotations

from functools import cache
from typing import Any

import gradio as gr

from sequoia.validate_input import json_text
from ui.paper.contents import page
from ui.paper.figures import scale_figure, speedups_figure
from ui.shared.layout import drawn


class PaperTab:
    """The tab's component."""

    def build(self) -> None:
        """Lay the view out in the current container."""
        drawn("pp", "paper/paper_view", [], page(), asked=self.get_paper_figures)

    def wire(self, _blocks: gr.Blocks) -> None:
        """Does nothing: the tab has no handlers."""

    def get_paper_figures(self, _asked: Any) -> str:
        """The figures, as JSON."""
        return _figures()


@cache
def _figures() -> str:
    """Made when the tab is first shown: Plotly takes a while to load."""
    figures = {"scale": scale_figure(), "speedups": speedups_figure()}
    return json_text({name: one.to_plotly_json() for name, one in figures.items()})
