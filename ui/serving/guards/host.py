"""Answers only requests for the server's own names. This guards against DNS rebinding: if the name
of another site is made to point to this machine, a page of that site could read everything here and
press every button.

Rebinding needs a name, so requests for any IP address are accepted.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from ui.serving.guards.refusal import refuse
from ui.serving.guards.sender import Network, sender, split_port


class HostRule:
    """ASGI middleware that refuses HTTP requests for host names that are not in `names`. Names can
    be added to `names` while the server runs."""

    def __init__(self, app: ASGIApp, names: set[str], proxies: tuple[Network, ...]) -> None:
        self._app = app
        self._names = names
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        name = split_port(sender(scope, self._proxies).host)[0].rstrip(".")
        if not is_ip_address(name) and name not in self._names:
            return await refuse(scope, receive, send, 403, _reason(name))
        await self._app(scope, receive, send)


def own_names(given: Iterable[str] = ()) -> set[str]:
    """The names of this machine, of the Hugging Face Space if this is one, and the `given`
    names."""
    machine = socket.gethostname().lower()
    short = machine.partition(".")[0]
    space = os.environ.get("SPACE_HOST", "")
    names = ("localhost", machine, short, f"{short}.local", space, *given)
    return {name.lower().rstrip(".") for name in names if name}


def is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _reason(name: str) -> str:
    shown = re.sub(r"[^a-z0-9.-]", "?", name[:100])
    return (
        f"this server does not answer to the name '{shown}'; if the name is right, start the "
        f"server with --allow-host {shown}"
    )
