"""All changes to Gradio's own behaviour, made once before the page is served. They depend on the
version of Gradio in requirements.txt; tests/ui/serving/test_gradio_changes.py fails if they no
longer work."""

from __future__ import annotations

from typing import Any

from gradio.state_holder import SessionState

from ui.serving.guards.no_fetching import forbid_downloads
from ui.serving.one_line_errors import shorten_tracebacks


def change_gradio() -> None:
    """Make all changes."""
    forbid_downloads()
    shorten_tracebacks()
    SessionState._update_value_in_config = _forget


def _forget(self: SessionState, key: int, value: Any) -> None:
    """Gradio would keep the last value of every component for each of the last visitors, for its
    deep links, which this page does not have. One opened file can be 32 MiB."""
