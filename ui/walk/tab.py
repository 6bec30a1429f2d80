"""The Walk view: its component, and the browser's two requests: which recorded runs there are, and
one of them.

Everything else happens in the browser.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from sequoia import SequoiaError
from ui.decode import recordings
from ui.shared.events import QUIET
from ui.shared.layout import drawn
from ui.shared.message_text import message_text


class WalkTab:
    """The view's component and its handlers."""

    def build(self) -> None:
        """Lay the view out in the current container."""
        self.board = drawn(
            "wk",
            "walk/connect",
            ["list"],
            '<div class="sq-stage sq-walk"></div>',
            asked=self.get_recorded_run,
        )

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect component and handler."""
        self.board.list(self.list_recorded_runs, None, self.board, concurrency_limit=None, **QUIET)

    def list_recorded_runs(self) -> str:
        """The recorded runs shipped with the program, each with its name, title and a sentence."""
        return message_text({"runs": [vars(one) for one in recordings.examples()]})

    def get_recorded_run(self, asked: Any) -> str:
        """The message that shows the recorded run called `asked`, as in Decode, or {"error"}."""
        try:
            return recordings.example(asked).message
        except SequoiaError as problem:
            return message_text({"error": str(problem)})
