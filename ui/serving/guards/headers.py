"""Headers of every HTTP response. They restrict what the page may load, where it may send data, and
which sites may show it in a frame.

Gradio's page needs 'unsafe-inline' and 'unsafe-eval' for scripts. So the headers do not prevent an
injected script from running. But they leave such a script only two ways to send data to another
machine: opening another page, and WebRTC.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_RULES = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}
_SPACES = "https://huggingface.co https://*.huggingface.co"


def content_rules(on_a_space: bool) -> str:
    """The Content-Security-Policy. On a Hugging Face Space, the Hub shows the page in a frame."""
    frames = f"'self' {_SPACES}" if on_a_space else "'self'"
    rules = {**_RULES, "frame-ancestors": frames}
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


class AnswerHeaders:
    """ASGI middleware that adds the headers."""

    def __init__(self, app: ASGIApp, on_a_space: bool) -> None:
        self._app = app
        self._content_rules = content_rules(on_a_space)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._content_rules
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        await self._app(scope, receive, send_with_headers)
