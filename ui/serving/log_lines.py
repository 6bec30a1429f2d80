"""Writes a refused or failed request to the log as one line.

A line has the method, the beginning of the path, the IP address of the client, the status and the
reason. It has no query, no body and no headers, except that the reason names a refused host. An
unexpected error is logged by its type and where it happened. The error's text is left out, as it
may contain a visitor's input.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from starlette.types import Scope

from ui.serving.sender import client_of
from ui.shared.markup import visible

_FRAMES = 4  # number of frames in the line, innermost first
_MAX_PATH = 100
_log = logging.getLogger(__name__)


def log_failure(scope: Scope, status: int, reason: str) -> None:
    """Write one line about a failed request to the log."""
    path = visible(scope["path"][:_MAX_PATH].replace("\n", " "))
    _log.warning("%s %s from %s: %d, %s", scope["method"], path, client_of(scope), status, reason)


def in_one_line(problem: BaseException) -> str:
    """The type of `problem` and the innermost frames of its traceback."""
    frames = traceback.extract_tb(problem.__traceback__)[-_FRAMES:]
    places = (f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{type(problem).__name__} in {' < '.join(places)}"
