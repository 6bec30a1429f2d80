"""The Paper tab: tables that the server writes once, and a figure that the browser draws."""

from __future__ import annotations

import gradio as gr

from ui.paper.contents import page
from ui.paper.figure import speedups_figure
from ui.shared.layout import drawn
from ui.shared.message_text import message_text


class PaperTab:
    """The tab's component."""

    def build(self) -> None:
        """Lay the view out in the current container."""
        figure = message_text({"figure": speedups_figure()})
        drawn("pp", "paper/paper_view", [], page(), value=figure)

    def wire(self, _blocks: gr.Blocks) -> None:
        """Does nothing: the tab has no handlers."""
