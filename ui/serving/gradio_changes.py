"""All changes to Gradio's own behaviour, made once before the page is served. They depend on the
version of Gradio in requirements.txt; tests/ui/serving/test_gradio_changes.py fails if they no
longer work."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState

from ui.serving.guards.no_fetching import forbid_downloads
from ui.serving.one_line_errors import shorten_tracebacks


def change_gradio() -> None:
    """Make all changes."""
    forbid_downloads()
    shorten_tracebacks()
    SessionState._update_value_in_config = _forget
    SessionState._update_config = _forget
    SessionState.__init__ = _begin_session


def _forget(self: SessionState, key: int, value: Any = None) -> None:
    """Gradio would keep the last value of every component for each of the last visitors, for its
    deep links, which this page does not have. One opened file can be 32 MiB."""


_gradio_begins_session = SessionState.__init__


def _begin_session(self: SessionState, blocks: gr.Blocks) -> None:
    """For the same links Gradio would describe every component anew for each visitor who comes,
    while all others wait: more than half of what a new page costs."""
    without_components: Any = SimpleNamespace(default_config=blocks.default_config, blocks=())
    _gradio_begins_session(self, without_components)
