"""All changes to the behaviour of Gradio, made once before the page is served. They depend on the
Gradio version in requirements.txt; tests/ui/serving/test_gradio_changes.py fails if they no longer
work."""

from __future__ import annotations

import logging
import sys
from types import SimpleNamespace
from typing import Any, NoReturn

import gradio as gr
import gradio.queueing
import gradio.routes
from gradio import processing_utils
from gradio.state_holder import SessionState

from ui.serving.guards import NO_FETCHING
from ui.serving.sender import in_one_line

_log = logging.getLogger(__name__)


def change_gradio() -> None:
    """Make all changes."""
    processing_utils.async_ssrf_protected_get = _refuse_download
    for module in (gradio.queueing, gradio.routes):
        module.traceback = SimpleNamespace(print_exc=_log_one_line)  # pyright: ignore
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


async def _refuse_download(*_: object, **__: object) -> NoReturn:
    """Gradio would download a file that is given to a handler as a web address."""
    raise gr.Error(NO_FETCHING, print_exception=False)


def _log_one_line() -> None:
    """Gradio would print a whole traceback for each request that a handler cannot read, so anyone
    could fill the log."""
    if problem := sys.exception():
        _log.warning("a handler failed: %s", in_one_line(problem))
