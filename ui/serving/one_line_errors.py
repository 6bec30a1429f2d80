"""Logs an unexpected error in one line: its type and where it happened. The error's text is left
out, as it may contain a visitor's input.

Gradio would print a whole traceback for each request that a handler cannot read, so anyone could
fill the log.
"""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

import gradio.queueing
import gradio.routes

_FRAMES = 4  # number of frames in the line, innermost first
_log = logging.getLogger(__name__)


def in_one_line(problem: BaseException) -> str:
    """The type of `problem` and the innermost frames of its traceback."""
    frames = traceback.extract_tb(problem.__traceback__)[-_FRAMES:]
    places = (f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{type(problem).__name__} in {' < '.join(places)}"


def shorten_tracebacks() -> None:
    """Make Gradio write one line instead of a traceback for an error in a handler."""
    short = SimpleNamespace(print_exc=_print_exc)
    for module in (gradio.queueing, gradio.routes):
        module.traceback = short  # pyright: ignore[reportAttributeAccessIssue]


def _print_exc() -> None:
    if problem := sys.exception():
        _log.warning("a handler failed: %s", in_one_line(problem))
