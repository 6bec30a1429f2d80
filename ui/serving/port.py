"""Checks the port before the slow imports, so that a port in use is reported at once. Imports only
the standard library."""

from __future__ import annotations

import errno
import os
import socket


class PortRefused(Exception):
    """The server cannot listen on the wanted host and port. The message says why."""


def wanted_port(given: int | None) -> int | None:
    """The port given by --port, else by GRADIO_SERVER_PORT. None means the first free port from
    7860 up. Raises PortRefused if there is no --port and GRADIO_SERVER_PORT is not a port."""
    text = os.environ.get("GRADIO_SERVER_PORT", "")
    if given is not None or not text:
        return given
    is_short_number = text.isascii() and text.isdigit() and len(text) <= 5
    if not is_short_number or not 0 < int(text) < 65536:
        raise PortRefused(f"GRADIO_SERVER_PORT={text[:40]} is not a port from 1 to 65535")
    return int(text)


def require_port(host: str, port: int | None) -> None:
    """Raises PortRefused if no server can listen on `port` of `host`. If `port` is None, only
    `host` is checked."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port or 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as trial:
            if os.name == "posix":  # on Windows this option would allow two servers on one port
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except UnicodeError:
        raise PortRefused(f"{host[:80]!r} is not the name or address of a host") from None
    except OSError as problem:
        raise PortRefused(_reason(host, port, problem)) from None


def _reason(host: str, port: int | None, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        return (
            f"port {port} is in use by another program; choose another one with --port, or leave "
            "--port and GRADIO_SERVER_PORT out to get a free one"
        )
    if problem.errno == errno.EACCES:
        return (
            f"this user has no permission to listen on port {port}; choose a port from 1024 up "
            "with --port"
        )
    return f"--host {host} is not an address of this machine ({problem.strerror})"
