"""Ensures that Gradio fetches nothing from other machines for a visitor. Gradio's file route would
also accept a web address and answer with the content at that address. If the path of a file given
to a handler is a web address, Gradio would download that file."""

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
    """ASGI middleware that refuses web addresses in paths."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "://" in scope["path"].replace(":/", "://"):
            return await refuse(scope, receive, send, 403, _REASON)
        await self._app(scope, receive, send)
