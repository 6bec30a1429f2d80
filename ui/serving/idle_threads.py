"""Ends threads that Gradio's handlers no longer need. The handlers run in a thread pool of AnyIO.
AnyIO ends idle threads only when it uses one of them: then it ends the others that have been idle
for ten seconds. If no handler ran after a busy time, all threads would stay."""

from __future__ import annotations

import asyncio

from anyio.to_thread import run_sync
from starlette.types import ASGIApp, Receive, Scope, Send

SECONDS = 11.0  # more than the ten seconds of AnyIO


class IdleThreads:
    """ASGI middleware that uses a thread once, SECONDS after the last request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._timer: asyncio.TimerHandle | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            self._use_one_later()

    def _use_one_later(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(SECONDS, self._use_one)

    def _use_one(self) -> None:
        self._task = asyncio.ensure_future(run_sync(_nothing))


def _nothing() -> None:
    """Called in a thread, so that AnyIO looks for idle threads."""
