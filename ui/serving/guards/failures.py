"""If a request fails unexpectedly, answers it with one sentence and writes one line to the log."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.serving.guards.refusal import answer, log_failure
from ui.serving.one_line_errors import in_one_line


class FailureLog:
    """ASGI middleware. After an unexpected exception it answers with status 500, unless the app had
    begun its own answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except HTTPException:
            raise
        except Exception as problem:
            log_failure(scope, 500, in_one_line(problem))
            if not started:
                await answer(scope, receive, send, 500, "an unexpected error; see the server's log")
