"""At most one job in line for each visitor, and if asked for, a few for each address. Independent
of the page and of the kind of job.

A visitor is one opened page. Who opens many pages is one address, but so is a room behind a router:
therefore a bound for each address must be asked for, with --per-address.
"""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from ui.serving.guards.sender import Network, sender
from ui.serving.sessions import Busy

_PREFIX = 64  # bits of an IPv6 address that stand for one household


class InLine(Protocol):
    """A job that waits or is served."""

    name: str

    @property
    def in_line(self) -> bool: ...


@dataclass(frozen=True)
class _Entry:
    address: str
    job: InLine


class OneEach:
    """The jobs in line by visitor. per_address: jobs that one address may have in line; None for
    no bound. proxies: those whose X-Forwarded-For counts."""

    def __init__(self, per_address: int | None = None, proxies: Sequence[Network] = ()) -> None:
        self._per_address = per_address
        self._proxies = proxies
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}

    @contextmanager
    def entering(self, who: str, request: Any, job: InLine) -> Iterator[None]:
        """While the context starts `job` of the visitor `who`, nobody else enters. Raises Busy if
        the visitor has another job in line, or their address too many."""
        with self._lock:
            self._entries = {
                key: entry for key, entry in self._entries.items() if entry.job.in_line
            }
            if mine := self._entries.get(who):
                raise Busy(
                    f"one run at a time; your {mine.job.name} has not ended yet: stop it first"
                )
            address = self._address(request)
            self._require_room(address)
            yield
            self._entries[who] = _Entry(address, job)

    def _require_room(self, address: str) -> None:
        most = self._per_address
        if most is None:
            return
        if sum(entry.address == address for entry in self._entries.values()) >= most:
            runs = f"{most} run{'s' * (most != 1)}"
            raise Busy(f"your network address has {runs} in line, the most allowed; wait for one")

    def _address(self, request: Any) -> str:
        """Where `request`, of Gradio, comes from; the same for all if there is no bound."""
        if self._per_address is None:
            return ""
        return _household(sender(request.request.scope, self._proxies).client)


def _household(client: str) -> str:
    """An IPv6 address without the part that each device chooses by itself."""
    try:
        found = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(found, ipaddress.IPv4Address):
        return client
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network(f"{found}/{_PREFIX}", strict=False))
