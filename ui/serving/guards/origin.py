"""Accepts a request that may change something only if it comes from the server's own page, or from
a program other than a browser. This guards against a page of another site that uses the visitor's
browser to send requests here: uploads, runs, downloads of models.

A browser sends the page's origin with every request that changes something, so such a request
without an origin normally comes from another program. If it is nevertheless marked as cross-site,
which only a browser does, it is refused. Links from other sites work, as they only read.
"""

from __future__ import annotations

from collections.abc import Set
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ui.serving.guards.refusal import refuse
from ui.serving.guards.sender import Network, Sender, sender, with_port

_READING = {"GET", "HEAD", "OPTIONS"}


class OriginRule:
    """ASGI middleware that refuses requests from pages of other origins. https_names: names under
    which an untrusted proxy serves this app over https, such as Gradio's share address."""

    def __init__(self, app: ASGIApp, https_names: Set[str], proxies: tuple[Network, ...]) -> None:
        self._app = app
        self._https_names = https_names
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if reason := self._reason(scope):
            return await refuse(scope, receive, send, 403, reason)
        await self._app(scope, receive, send)

    def _reason(self, scope: Scope) -> str | None:
        """Why the request is refused, or None."""
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is None:
            if scope["method"] in _READING or headers.get("sec-fetch-site") != "cross-site":
                return None
            return "this request was sent by a page of another site"
        if self._is_own(origin, sender(scope, self._proxies)):
            return None
        return (
            "the page that sent this request does not have the address of this server; if the "
            "server is behind a proxy, start it with --trusted-proxy and the proxy's IP address"
        )

    def _is_own(self, origin: str, who: Sender) -> bool:
        """Whether `origin` has the host and port of the request, and its scheme (or https, for one
        of the `https_names`)."""
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        found = (parts.scheme, with_port(parts.scheme, parts.netloc))
        by_https = found == ("https", with_port("https", who.host))
        return found == who.origin or (by_https and who.host.lower() in self._https_names)
