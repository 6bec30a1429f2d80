"""The Walk view: its component, and the handlers that send the list of recorded runs and a recorded
run."""

from __future__ import annotations

from typing import Any

import gradio as gr

from sequoia import SequoiaError
from sequoia.validate_input import json_text
from ui.run import recordings
from ui.shared.events import QUIET
from ui.shared.layout import drawn


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
        """Connect the component to the handler for the list of recorded runs."""
        self.board.list(self.list_recorded_runs, None, self.board, concurrency_limit=None, **QUIET)

    def list_recorded_runs(self) -> str:
        """The recorded runs shipped with the program, as JSON: {"runs": [{"name", "title",
        "about"}, ...]}."""
        return json_text({"runs": [vars(one) for one in recordings.examples()]})

    def get_recorded_run(self, asked: Any) -> str:
        """The recorded run called `asked`, as the JSON message that Run shows. If it cannot be
        read, the message is {"error": reason}."""
        try:
            return recordings.example(asked).whole(stored=False)
        except SequoiaError as problem:
            return json_text({"error": str(problem)})
