"""Lists all guards (ASGI middleware) of the server, in the order in which a request passes them."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable

from starlette.middleware import Middleware

from ui.serving.guards.bodies import BodyLimits
from ui.serving.guards.failures import FailureLog
from ui.serving.guards.headers import AnswerHeaders
from ui.serving.guards.host import HostRule, own_names
from ui.serving.guards.no_fetching import NoFetching
from ui.serving.guards.origin import OriginRule
from ui.serving.guards.sender import EVERYONE, Network
from ui.serving.limits import Limits


class Address:
    """The names that the server answers to, and the proxies that it trusts.

    allowed: names in addition to the machine's own. proxies: IP addresses or networks such as
    10.0.0.0/8. Raises ValueError if a proxy is anything else.
    """

    def __init__(self, allowed: Iterable[str] = (), proxies: Iterable[str] = ()) -> None:
        self.names = own_names(allowed)
        self.https_names: set[str] = set()
        self.on_a_space = bool(os.environ.get("SPACE_HOST"))
        trusted: tuple[Network, ...] = tuple(
            ipaddress.ip_network(proxy, strict=False) for proxy in proxies
        )
        self.proxies = EVERYONE if self.on_a_space else trusted

    def add_share(self, name: str) -> None:
        """Also answer to the name of Gradio's share address, which is reached over https."""
        self.names.add(name.lower())
        self.https_names.add(name.lower())


def all_guards(limits: Limits, address: Address) -> list[Middleware]:
    """The guards as middleware, outermost first."""
    return [
        Middleware(AnswerHeaders, on_a_space=address.on_a_space),
        Middleware(FailureLog),
        Middleware(HostRule, names=address.names, proxies=address.proxies),
        Middleware(OriginRule, https_names=address.https_names, proxies=address.proxies),
        Middleware(NoFetching),
        Middleware(BodyLimits, limits=limits, proxies=address.proxies),
    ]
