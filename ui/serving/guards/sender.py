"""Finds out who sent a request, and to which address it was sent.

A proxy reports both in X-Forwarded headers, but anyone can send such headers. So they count only if
the connection comes from an address given with --trusted-proxy, or on a Hugging Face Space, where
every connection comes from the Space's proxy.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
EVERYONE = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_PREFIX = 64  # leading bits of an IPv6 address that all devices of a household share


@dataclass(frozen=True)
class Sender:
    """client: the IP address of the browser. scheme, host: those in its address bar; the host may
    include a port. Behind an untrusted proxy, all three are those of the proxy's request."""

    client: str
    scheme: str
    host: str

    @property
    def origin(self) -> tuple[str, str]:
        return self.scheme, with_port(self.scheme, self.host)


def sender(scope: Scope, proxies: Sequence[Network]) -> Sender:
    """The sender of a request. proxies: the trusted proxies."""
    headers = Headers(scope=scope)
    peer = (scope.get("client") or ("", 0))[0]
    hosts = headers.getlist("host")
    host = hosts[0] if len(hosts) == 1 else ""
    if not is_in(peer, proxies):
        return Sender(peer, scope["scheme"], host)
    return Sender(
        _last_untrusted(_joined(headers, "x-forwarded-for"), proxies) or peer,
        _last(_joined(headers, "x-forwarded-proto")) or scope["scheme"],
        _last(_joined(headers, "x-forwarded-host")) or host,
    )


def _joined(headers: Headers, name: str) -> str:
    """All values of a header, separated by commas. A request can have the header twice, as a proxy
    may add a line of its own after the client's."""
    return ",".join(headers.getlist(name))


def household(client: str) -> str:
    """The part of the address `client` that all devices of a household share. For an IPv6 address
    that is the first _PREFIX bits, because a device can choose the rest. An IPv4 address is
    returned whole; if it is written as IPv6, it is first converted to IPv4. Any other text is
    returned unchanged."""
    try:
        found = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(found, ipaddress.IPv4Address):
        return client
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network(f"{found}/{_PREFIX}", strict=False))


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


def is_in(address: str, networks: Sequence[Network]) -> bool:
    """Whether `address` is an IP address in one of `networks`. An IPv4 address may be written as
    an IPv6 one, such as ::ffff:10.0.0.1."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None)
    return any(found in network or (mapped and mapped in network) for network in networks)


def _last(value: str) -> str:
    """The last entry, which the nearest proxy wrote. The entries before it can be forged."""
    return value.rpartition(",")[2].strip()


def _last_untrusted(value: str, proxies: Sequence[Network]) -> str:
    """The last address in `value` that is not a trusted proxy's. If every address is trusted,
    as on a Space, it is the last address."""
    addresses = [address.strip() for address in value.split(",")]
    outside = [address for address in addresses if not is_in(address, proxies)]
    return (outside or addresses)[-1]
