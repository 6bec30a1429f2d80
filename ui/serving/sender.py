"""Who sent a request, and to which name, and the lines in the log about failed requests. Behind a
proxy given with --trusted-proxy, uvicorn has already taken the client's address from the proxy's
headers."""

from __future__ import annotations

import ipaddress
import logging
import traceback
from pathlib import Path
from typing import Any

from starlette.types import Scope

from ui.shared.markup import visible

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


# -- lines in the log ------------------------------------------------------------------------------


_FRAMES = 4  # number of frames in the line, innermost first
_MAX_PATH = 100
_log = logging.getLogger(__name__)


def log_failure(scope: Scope, status: int, reason: str) -> None:
    """Write one line about a failed request to the log."""
    path = visible(scope["path"][:_MAX_PATH].replace("\n", " "))
    _log.warning("%s %s from %s: %d, %s", scope["method"], path, client_of(scope), status, reason)


def in_one_line(problem: BaseException) -> str:
    """The type of `problem` and the innermost frames of its traceback."""
    frames = traceback.extract_tb(problem.__traceback__)[-_FRAMES:]
    places = (f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in reversed(frames))
    return f"{type(problem).__name__} in {' < '.join(places)}"
