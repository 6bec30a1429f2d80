"""Checks each HTTP request before Gradio gets it (ASGI middleware). What uvicorn, Starlette or
Gradio check themselves is not checked here."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.serving.bodies import BodyLimits
from ui.serving.limits import Limits
from ui.serving.log_lines import answer, in_one_line, log_failure, refuse
from ui.serving.sender import PRIVATE, Forwarded, host_of, split_port, with_port

NO_FETCHING = "this server does not fetch files from other addresses"
_READING = {"GET", "HEAD", "OPTIONS"}
# What the page may load, where it may send data, and which sites may show it in a frame. Gradio's
# page needs 'unsafe-inline' and 'unsafe-eval' for scripts. So an injected script could run, but
# would have only two ways to send data to another machine: opening another page, and WebRTC.
_CONTENT = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
_SPACES = " https://huggingface.co https://*.huggingface.co"  # the Hub shows a Space in a frame


class Address:
    """The names that the server answers to, and the proxies that it trusts.

    allowed: names in addition to the machine's own. proxies: IP addresses or networks such as
    10.0.0.0/8.
    """

    def __init__(self, allowed: Iterable[str] = (), proxies: Iterable[str] = ()) -> None:
        space = os.environ.get("SPACE_HOST", "")
        machine = socket.gethostname()
        short = machine.partition(".")[0]
        names = ("localhost", machine, short, f"{short}.local", space, *allowed)
        self.names = {name.lower().rstrip(".") for name in names if name}
        self.https_names: set[str] = set()  # which an untrusted proxy serves over https
        self.on_a_space = bool(space)
        self.proxies = PRIVATE if space else tuple(proxies)

    def add_share(self, name: str) -> None:
        """Also answer to the name of Gradio's share address, which is reached over https."""
        self.names.add(name.lower())
        self.https_names.add(name.lower())


def all_guards(limits: Limits, address: Address) -> list[Middleware]:
    """The guards as middleware, outermost first."""
    return [
        Middleware(Answers, on_a_space=address.on_a_space),
        Middleware(Forwarded, proxies=address.proxies),
        Middleware(Doors, address=address),
        Middleware(BodyLimits, limits=limits),
    ]


class Answers:
    """Adds headers to every answer. If a request fails unexpectedly, answers it with one sentence
    and writes one line to the log."""

    def __init__(self, app: ASGIApp, on_a_space: bool) -> None:
        self._app = app
        rules = "; ".join(f"{name} {sources}" for name, sources in _CONTENT.items())
        self._content = rules + _SPACES if on_a_space else rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._content
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        try:
            await self._app(scope, receive, with_headers)
        except HTTPException:
            raise
        except Exception as problem:
            log_failure(scope, 500, in_one_line(problem))
            if not started:
                words = "an unexpected error; see the server's log"
                await answer(scope, receive, with_headers, 500, words)


class Doors:
    """Refuses requests for other hosts, from pages of other sites, and for files elsewhere."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (reason := self._reason(scope)):
            return await refuse(scope, receive, send, 403, reason)
        await self._app(scope, receive, send)

    def _reason(self, scope: Scope) -> str:
        """Why the request is refused, or ""."""
        headers = Headers(scope=scope)
        # Gradio's file route would fetch a web address in place of a path.
        elsewhere = NO_FETCHING if ":/" in scope["path"] else ""
        return self._other_name(headers) or self._other_site(scope, headers) or elsewhere

    def _other_name(self, headers: Headers) -> str:
        """Guards against DNS rebinding: if the name of another site is made to point to this
        machine, a page of that site could read everything here and press every button. That needs
        a name, so all IP addresses are accepted."""
        name = split_port(host_of(headers))[0].rstrip(".")
        if is_ip_address(name) or name in self._address.names:
            return ""
        shown = re.sub(r"[^a-z0-9.-]", "?", name[:100])
        return (
            f"this server does not answer to the name '{shown}'; if the name is right, start the "
            f"server with --allow-host {shown}"
        )

    def _other_site(self, scope: Scope, headers: Headers) -> str:
        """Guards against pages of other sites that send requests through the visitor's browser. A
        browser names the page's origin in every request that may change something. Other programs
        name none, and a link only reads."""
        origin = headers.get("origin")
        if origin is None:
            if scope["method"] in _READING or headers.get("sec-fetch-site") != "cross-site":
                return ""
            return "this request was sent by a page of another site"
        if self._is_own(origin, scope["scheme"], host_of(headers)):
            return ""
        return (
            "the page that sent this request does not have the address of this server; if the "
            "server is behind a proxy, start it with --trusted-proxy and the proxy's IP address"
        )

    def _is_own(self, origin: str, scheme: str, host: str) -> bool:
        """Whether `origin` has the scheme, host and port of the request."""
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        scheme = "https" if host.lower() in self._address.https_names else scheme
        return (parts.scheme, with_port(parts.scheme, parts.netloc)) == (
            scheme,
            with_port(scheme, host),
        )


def is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
