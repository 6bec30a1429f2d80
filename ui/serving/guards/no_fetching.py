"""Ensures that Gradio fetches nothing from other machines for a visitor. Without these guards,
Gradio's file route accepts a web address in place of a path, and answers with the content at that
address. Gradio also downloads a file given to a handler if the file's path is a web address."""

from __future__ import annotations

from typing import NoReturn

import gradio as gr
from gradio import processing_utils
from starlette.types import ASGIApp, Receive, Scope, Send

from ui.serving.guards.refusal import refuse

_REASON = "this server does not fetch files from other addresses"


def forbid_downloads() -> None:
    """Make Gradio refuse files whose path is a web address."""
    processing_utils.async_ssrf_protected_get = _refuse_download


async def _refuse_download(*_: object, **__: object) -> NoReturn:
    raise gr.Error(_REASON, print_exception=False)


class NoFetching:
    """ASGI middleware that refuses requests whose path contains a web address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and ":/" in scope["path"]:
            return await refuse(scope, receive, send, 403, _REASON)
        await self._app(scope, receive, send)
