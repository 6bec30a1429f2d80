"""Refuses requests that may change something (uploads, runs, downloads of models) if a page of
another site sends them through the visitor's browser.

A browser names the page's origin in every request that may change something. If this is not the
server's own origin, the request is refused. A request without an origin normally comes from another
program, and is accepted. But if a header marks it as cross-site, a browser sent it, and it is
refused too. Links from other sites work: they only read, and name no origin.
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
        """Whether `origin` has the host, port and scheme of the request. For a host among
        `https_names`, the scheme may also be https."""
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        found = (parts.scheme, with_port(parts.scheme, parts.netloc))
        by_https = found == ("https", with_port("https", who.host))
        return found == who.origin or (by_https and who.host.lower() in self._https_names)
