"""Finds out who sent a request, and to which address it was sent.

A proxy reports both in X-Forwarded headers, but anyone can send such headers. So they count only if
the connection comes from an address given with --trusted-proxy, or on a Hugging Face Space, where
every connection comes from the Space's proxy.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

# The proxy of a Hugging Face Space has such an address.
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "::1", "fc00::/7")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_PREFIX = 64  # leading bits of an IPv6 address that all devices of a household share


class Forwarded:
    """ASGI middleware that takes the client's address, the scheme and the host from the headers of
    trusted proxies, as uvicorn does for the first two. proxies: IP addresses or networks. Raises
    ValueError if a proxy is anything else."""

    def __init__(self, app: ASGIApp, proxies: Iterable[str]) -> None:
        networks = [str(ipaddress.ip_network(proxy, strict=False)) for proxy in proxies]
        self._rest: Any = ProxyHeadersMiddleware(app, networks)  # pyright: ignore

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            peer, port = scope.get("client") or ("", 0)
            scope = {**scope, "client": (_as_ipv4(peer), port)}
            if scope["client"][0] in self._rest.trusted_hosts:
                scope["headers"] = _with_forwarded_host(scope)
        await self._rest(scope, receive, send)


def _with_forwarded_host(scope: Scope) -> list[tuple[bytes, bytes]]:
    """The headers of a request, with the host that its proxy reports. The last entry counts, which
    the nearest proxy wrote. The entries before it can be forged."""
    entries = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-host")
    host = entries.rpartition(b",")[2].strip()
    if not host:
        return scope["headers"]
    return [*(pair for pair in scope["headers"] if pair[0] != b"host"), (b"host", host)]


def client_of(scope: Scope) -> str:
    """The IP address that a request comes from."""
    return (scope.get("client") or ("", 0))[0]


def host_of(headers: Headers) -> str:
    """The Host header, which may include a port; "" unless there is exactly one."""
    hosts = headers.getlist("host")
    return hosts[0] if len(hosts) == 1 else ""


def household(client: str) -> str:
    """The part of the address `client` that all devices of a household share. For an IPv6 address
    that is the first _PREFIX bits, because a device can choose the rest. Any other text is returned
    unchanged, but an IPv4 address written as IPv6 is converted to IPv4."""
    client = _as_ipv4(client)
    try:
        return str(ipaddress.IPv6Network(f"{client}/{_PREFIX}", strict=False))
    except ValueError:
        return client


def _as_ipv4(address: str) -> str:
    try:
        return str(ipaddress.IPv6Address(address).ipv4_mapped or address)
    except ValueError:
        return address


def with_port(scheme: str, host: str) -> str:
    """`host` in lower case, with its own port or the default port of `scheme`. If neither is known,
    nothing follows the colon."""
    name, port = split_port(host)
    return f"{name}:{port or _DEFAULT_PORTS.get(scheme, '')}"


def split_port(host: str) -> tuple[str, str]:
    """The name in a Host header, in lower case, and its port, which is "" if there is none."""
    name, colon, port = host.lower().rpartition(":")
    if not colon or port.endswith("]"):  # no port; the colon may be inside an IPv6 address
        return host.lower(), ""
    return name, port
