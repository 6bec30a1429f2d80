"""The Tour view: its component, and the handler that sends what the tour shows."""

from __future__ import annotations

import gradio as gr

from ui.shared.events import QUIET
from ui.shared.layout import drawn
from ui.tour import lesson


class TourTab:
    """The view's component and its handler."""

    def build(self) -> None:
        """Create the view's component in the current container."""
        self.board = drawn("tr", "tour/connect", ["come"], '<div class="sq-stage sq-tour"></div>')

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect the component to its handler."""
        self.board.come(self.start, None, self.board, concurrency_limit=None, **QUIET)

    def start(self) -> str:
        """The JSON text of the tour's recorded runs and hardware profiles."""
        return lesson.message()
