"""All changes to the behaviour of Gradio, made once before the page is served. They depend on the
Gradio version in requirements.txt; tests/ui/serving/test_gradio_changes.py fails if they no longer
work."""

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
    """Does nothing. It replaces two methods that store the last value of every component for each
    recent visitor, which takes much memory. Gradio needs these values only for its own deep links
    (gr.DeepLinkButton), which this page does not use."""


_gradio_begins_session = SessionState.__init__


def _begin_session(self: SessionState, blocks: gr.Blocks) -> None:
    """Begins a session without the configurations of the components. Gradio would build them for
    each new visitor while all other visitors wait. Only Gradio's deep links need them."""
    without_components: Any = SimpleNamespace(default_config=blocks.default_config, blocks=())
    _gradio_begins_session(self, without_components)
