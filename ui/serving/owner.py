"""Who may change what all visitors share: the machine's measured times, the loaded models, and the
order of the queue.

The program prints the owner's link when it starts. It has a random token, which the browser keeps
in a cookie. Nobody needs the link on a server that only its own machine can reach.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Collection
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sequoia import SequoiaError
from ui.serving.sender import client_of, name_of

PARAMETER = "owner"  # of the owner's link
# A request with one of these headers passed a proxy, so it may come from anywhere. So did one with
# a header that has "forwarded" in its name.
_OF_A_PROXY = {"via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip"}
_EFFECTS = {"measure": "change the times of this machine", "load": "change the models"}


class NotOwner(SequoiaError):
    """Only the owner of this server may do this."""


class Owner:
    """The owner of this server. is_alone: whether the server is meant for this machine only, and
    listens on it only. allowed: what every visitor may do."""

    def __init__(self, is_alone: bool = True, allowed: Collection[str] = ()) -> None:
        self.token = secrets.token_urlsafe(16)
        self._is_alone = is_alone
        self._allowed = frozenset(allowed)
        # servers on one host share their cookies, so each has its own name
        self._cookie = f"sequoia-owner-{secrets.token_hex(4)}"

    def link(self, url: str) -> str:
        """The owner's link to the page at `url`."""
        return f"{url}?{urlencode({PARAMETER: self.token})}"

    def may(self, request: Any, act: str) -> bool:
        """Whether the sender of a Gradio request may do `act`."""
        is_local = self._is_alone and _is_local(request.request.scope)
        return act in self._allowed or is_local or self.used_link(request)

    def require(self, request: Any, act: str) -> None:
        """Raises NotOwner if the sender of a Gradio request may not do `act`."""
        if not self.may(request, act):
            raise NotOwner(
                f"it would {_EFFECTS[act]} for all visitors, so it needs the owner's link, which "
                f"the program printed when it started (--visitors-may {act} allows it to everyone)"
            )

    def used_link(self, request: Any) -> bool:
        """Whether the sender of a Gradio request has used the owner's link. Only then they go first
        in the queue: where nobody needs the link, all are equal."""
        return self.is_token(HTTPConnection(request.request.scope).cookies.get(self._cookie, ""))

    def is_token(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def welcome(self, scope: Scope, query: str) -> RedirectResponse:
        """The answer to the owner's link: stores the token, and leads to the page without it."""
        response = RedirectResponse(f"./{'?' * bool(query)}{query}", 303)
        response.set_cookie(
            self._cookie,
            self.token,
            max_age=30 * 24 * 3600,
            httponly=True,
            samesite="lax",
            secure=scope["scheme"] == "https",
        )
        return response


class OwnerLink:
    """ASGI middleware that answers the owner's link."""

    def __init__(self, app: ASGIApp, owner: Owner) -> None:
        self._app = app
        self._owner = owner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] != "GET":
            return await self._app(scope, receive, send)
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([pair for pair in query if pair[0] != PARAMETER])
        if not self._owner.is_token(dict(query).get(PARAMETER, "")):
            return await self._app(scope, receive, send)
        await self._owner.welcome(scope, rest)(scope, receive, send)


def is_loopback(host: str) -> bool:
    """Whether `host` is a name or address under which only this machine can be reached."""
    name = host.lower().rstrip(".").strip("[]")
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _is_local(scope: Scope) -> bool:
    """Whether a request comes from this machine, was sent to it by its own name, and passed no
    proxy that says so."""
    headers = Headers(scope=scope)
    names = {name_of(host) for host in headers.getlist("host")}
    passed = any(name in _OF_A_PROXY or "forwarded" in name for name in headers)
    is_near = is_loopback(client_of(scope)) and bool(names) and all(map(is_loopback, names))
    return not passed and is_near
