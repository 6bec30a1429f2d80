"""Who sent a request, and to which name. Behind a proxy given with --trusted-proxy, uvicorn has
already taken the client's address from the proxy's headers."""

from __future__ import annotations

import ipaddress
from typing import Any

from starlette.types import Scope

_PREFIX = 64  # leading bits of an IPv6 address that all devices of a household share


def client_of(scope: Scope) -> str:
    """The IP address that a request comes from."""
    return (scope.get("client") or ("", 0))[0]


def address_of(request: Any) -> str:
    """The address that a Gradio request comes from, the same for a whole household."""
    return household(client_of(request.request.scope))


def household(client: str) -> str:
    """The part of the address `client` that all devices of a household share. For an IPv6 address
    that is the first _PREFIX bits, because a device can choose the rest. Any other text is returned
    unchanged, but an IPv4 address written as IPv6 is converted to IPv4."""
    try:
        address = ipaddress.IPv6Address(client)
    except ValueError:
        return client
    return str(address.ipv4_mapped or ipaddress.ip_network((address, _PREFIX), strict=False))


def name_of(host: str) -> str:
    """The name in a Host header, in lower case, without the port and a final dot."""
    name, colon, port = host.lower().rpartition(":")
    has_port = colon and not port.endswith("]")  # else the colon may be inside an IPv6 address
    return (name if has_port else host.lower()).rstrip(".")
