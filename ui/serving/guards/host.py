"""Which names the server answers to. Guards against DNS rebinding: a page of another site whose
name suddenly leads to this machine could read and press everything here.

Rebinding needs a name, so any IP address is accepted.
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
    """ASGI middleware that refuses requests for other names. `names` can grow while the server
    runs."""

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
    """The names of this machine, of the Space, and those `given`."""
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
        f"this server does not answer to the name '{shown}'; if the name is right, start it with "
        f"--allow-host {shown}"
    )
