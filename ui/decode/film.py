"""The Film view: the recorded run that the page opens with."""

from __future__ import annotations

import gradio as gr

from ui.decode import recordings
from ui.decode.messages import notice_message
from ui.decode.tab import SKELETON, LiveView
from ui.shared.events import QUIET
from ui.shared.layout import drawn


class FilmTab:
    """The view's component and its handlers. live: the view whose form gets the settings of the
    recorded run."""

    def __init__(self, live: LiveView) -> None:
        self._live = live

    def build(self) -> None:
        """Create the view's component in the current container."""
        self.stage = drawn("fm", "decode/film", ["come", "take"], SKELETON)

    def wire(self, blocks: gr.Blocks) -> None:
        """Connect the component to its handlers."""
        for comes in (blocks.load, self.stage.come):  # it was not ready for the page's load event
            comes(self.start, None, self.stage, **QUIET)
        live = self._live
        self.stage.take(live.fill, live.profiles, live.filled, **QUIET)

    def start(self) -> str:
        """The recorded run as a message."""
        found = recordings.film()
        return found.message if found else notice_message(notice="No recorded run found.")
