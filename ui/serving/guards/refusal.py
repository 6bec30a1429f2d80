"""Refuses a request with one sentence to the browser and one line in the log. The line has the
method, the beginning of the path, the IP address of the connection, the status and the reason. It
has no query, no body and no headers, except that the reason names a refused host."""

from __future__ import annotations

import logging

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from ui.shared.markup import visible

_log = logging.getLogger(__name__)
_MAX_PATH = 100


async def refuse(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    """Log the failure and answer with `reason` as "detail", which Gradio's page shows."""
    log_failure(scope, status, reason)
    await answer(scope, receive, send, status, reason)


async def answer(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    """Answer with `reason` and close the connection, as the body of the request may not have been
    read to its end."""
    response = JSONResponse({"detail": reason}, status, {"Connection": "close"})
    await response(scope, receive, send)


def log_failure(scope: Scope, status: int, reason: str) -> None:
    """Write one line about a failed request to the log."""
    path = visible(scope["path"][:_MAX_PATH].replace("\n", " "))
    client = (scope.get("client") or ("?", 0))[0]
    _log.warning("%s %s from %s: %d, %s", scope["method"], path, client, status, reason)
