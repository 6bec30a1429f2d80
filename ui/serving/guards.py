"""Checks each HTTP request before Gradio gets it (ASGI middleware).

| threat | answered by |
|---|---|
| another site's name is made to point here (DNS rebinding) | `Doors` |
| a page of another site presses our buttons | `Doors`; reading answers: Gradio's CORS rules |
| forged X-Forwarded headers | uvicorn believes only the addresses of `trusted_proxies` |
| a web address in place of a file | `Doors` (in a path), gradio_changes.py (in a request's data) |
| a path in place of a file | Gradio serves only its own folders, and files that it was sent |
| a request of any size, or with millions of lists | `Bodies` |
| uploads of any size, too many from one address or from all | Gradio (each file), `Bodies` |
| temporary files fill the disk | temporary_folder.py; Gradio deletes old ones (ui/page.py) |
| an injected script sends data away, another site frames the page | `Answers` |
| an unexpected error shows or logs what a visitor sent | `Answers`, gradio_changes.py |
| programs call handlers past the queue, or fill it | Gradio's queue (ui/page.py), fair_queue.py |
| one visitor or address has many runs; too many visitors | session_view.py |
| a visitor changes the machine or the models for all | owner.py |
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import time
from collections import Counter
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.serving.limits import MIB, Limits
from ui.serving.sender import client_of, household, in_one_line, log_failure, name_of

NO_FETCHING = "this server does not fetch files from other addresses"
MAX_LISTS = 20_000  # lists and objects in one request; the page sends a few hundred
MAX_VALUES = 400_000  # values in one request
BLOCK = 4096  # bytes added to the size of each file: even a tiny file occupies a block on disk
_AROUND_A_FILE = 64 * 1024  # bytes that an upload may have in addition to the file itself
_READING = {"GET", "HEAD", "OPTIONS"}
# The proxy of a Hugging Face Space has such an address.
_PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "::1", "fc00::/7")
# What the page may load, where it may send data, and which sites may show it in a frame. Gradio's
# page needs 'unsafe-inline' and 'unsafe-eval' for scripts. So an injected script could run, but
# would have only two ways to send data to another machine: opening another page, and WebRTC.
_CONTENT = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
_SPACES = " https://huggingface.co https://*.huggingface.co"  # the Hub shows a Space in a frame


def space() -> str:
    """The host name of the Hugging Face Space that this runs on, or ""."""
    return os.environ.get("SPACE_HOST", "")


def trusted_proxies(given: Iterable[str]) -> str:
    """The addresses and networks, separated by commas, from which uvicorn believes X-Forwarded
    headers. given: those of --trusted-proxy. On a Space, every connection comes from its proxy."""
    return ",".join(_PRIVATE if space() else given)


class Address:
    """The names that the server answers to. allowed: names in addition to the machine's own.
    has_proxy: whether a proxy reports in X-Forwarded-Host the name that a visitor used."""

    def __init__(self, allowed: Iterable[str] = (), has_proxy: bool = False) -> None:
        machine = socket.gethostname()
        short = machine.partition(".")[0]
        names = ("localhost", machine, short, f"{short}.local", space(), *allowed)
        self.names = {name.lower().rstrip(".") for name in names if name}
        self.has_proxy = has_proxy or bool(space())


def all_guards(limits: Limits, address: Address) -> list[Middleware]:
    """The guards as middleware, outermost first."""
    return [
        Middleware(Answers),
        Middleware(Doors, address=address),
        Middleware(Bodies, limits=limits),
    ]


class Answers:
    """Adds headers to every answer. If a request fails unexpectedly, answers it with one sentence
    and writes one line to the log."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        rules = "; ".join(f"{name} {sources}" for name, sources in _CONTENT.items())
        self._content = rules + _SPACES if space() else rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._content
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "same-origin"
            await send(message)

        try:
            await self._app(scope, receive, with_headers)
        except Exception as problem:
            log_failure(scope, 500, in_one_line(problem))
            if not started:
                answer = JSONResponse({"detail": "an unexpected error; see the server's log"}, 500)
                await answer(scope, receive, with_headers)


class Doors:
    """Refuses requests for other hosts, from pages of other sites, and for files elsewhere."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (reason := self._reason(scope)):
            log_failure(scope, 403, reason)
            return await JSONResponse({"detail": reason}, 403)(scope, receive, send)
        await self._app(scope, receive, send)

    def _reason(self, scope: Scope) -> str:
        """Why the request is refused, or ""."""
        headers = Headers(scope=scope)
        hosts = [host.lower() for host in headers.getlist("host")]
        hosts = hosts if len(hosts) == 1 else [""]
        # A page of another site cannot send this header; a proxy adds its entry at the end.
        if forwarded := ",".join(headers.getlist("x-forwarded-host")).rpartition(",")[2].strip():
            hosts.append(forwarded.lower())
        # Gradio's file route would fetch a web address in place of a path.
        elsewhere = NO_FETCHING if ":/" in scope["path"] else ""
        return self._other_name(hosts) or self._other_site(scope, headers, hosts) or elsewhere

    def _other_name(self, hosts: list[str]) -> str:
        """Guards against DNS rebinding: if the name of another site is made to point to this
        machine, a page of that site could read everything here and press every button. That needs
        a name, so all IP addresses are accepted."""
        for host in hosts if self._address.has_proxy else hosts[:1]:
            name = name_of(host)
            if not (is_ip_address(name) or name in self._address.names):
                shown = re.sub(r"[^a-z0-9.-]", "?", name[:100])
                return (
                    f"this server does not answer to the name '{shown}'; if the name is right, "
                    f"start the server with --allow-host {shown}"
                )
        return ""

    def _other_site(self, scope: Scope, headers: Headers, hosts: list[str]) -> str:
        """Guards against pages of other sites that send requests through the visitor's browser. A
        browser names the page's origin in every request that may change something, and newer ones
        also say whether it is ours. Other programs say neither, and a link only reads."""
        site = headers.get("sec-fetch-site")
        if site == "cross-site" and scope["method"] not in _READING:
            return "this request was sent by a page of another site"
        origin = headers.get("origin")
        if origin is None or site == "same-origin" or origin.partition("://")[2] in hosts:
            return ""
        return (
            "the page that sent this request does not have the address of this server; if the "
            "server is behind a proxy, let it send the header X-Forwarded-Host"
        )


class Bodies:
    """Limits how much requests may send. Gradio itself limits only the size and number of files.
    The limits in bytes are in ui/serving/limits.py. The error that exceeding a limit raises ends
    Gradio's reading, before it has parsed JSON, and it removes the part of a file that has come."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._uploads = RecentUploads(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        receive = self._limited(scope, receive) if scope["type"] == "http" else receive
        await self._app(scope, receive, send)

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        is_upload = scope["path"].rstrip("/").endswith("/upload")
        sender = household(client_of(scope))
        body = Upload(self._uploads, sender) if is_upload else Values(self._limits.request)

        async def limited() -> Message:
            message = await receive()
            if reason := body.add(message.get("body", b"")):
                log_failure(scope, 413, reason)
                raise MultiPartException(reason) if is_upload else HTTPException(413, reason)
            return message

        return limited


class Values:
    """The body of a request that uploads no file. 60 MB of nested lists would take 4 GB of memory
    while Gradio parses them, and no other visitor would be served meanwhile. So brackets and commas
    are counted, also those inside strings. most: bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = self._lists = self._values = 0

    def add(self, piece: bytes) -> str:
        self._size += len(piece)
        self._lists += piece.count(b"[") + piece.count(b"{")
        self._values += piece.count(b",")
        if self._size > self._most:
            return f"a request may have at most {self._most // MIB} MiB"
        if self._lists > MAX_LISTS or self._values > MAX_VALUES:
            return (
                f"a request may have at most {MAX_LISTS:,} lists and objects, and at most "
                f"{MAX_VALUES:,} values"
            )
        return ""


class Upload:
    """The body of an upload."""

    def __init__(self, uploads: RecentUploads, sender: str) -> None:
        self._uploads = uploads
        self._sender = sender
        self._size = 0
        self._end = b""  # of the last piece, in which the name of a file may have begun

    def add(self, piece: bytes) -> str:
        self._size += len(piece)
        # each file is preceded by this word; that it also occurs inside a file is rare
        text = self._end + piece.lower()
        self._end = text[-len(b"filenam") :]
        most = self._uploads.limits.upload
        if self._size > most + _AROUND_A_FILE:
            return f"an upload may have at most {most // MIB} MiB"
        return self._uploads.add(self._sender, len(piece) + BLOCK * text.count(b"filename"))


class RecentUploads:
    """The bytes uploaded so far in this period of `upload_seconds`, by sender and in total."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._period = 0.0
        self._sizes: Counter[str] = Counter()
        self._total = 0

    def add(self, sender: str, size: int) -> str:
        """Count `size` bytes from `sender`. Returns why they are refused, or ""."""
        if self._period != (now := time.monotonic() // self.limits.upload_seconds):
            self._period, self._total, self._sizes = now, 0, Counter()
        minutes = f"{self.limits.upload_seconds / 60:.3g} minutes"
        later = f"in {minutes}; try again in {minutes}"
        if self._sizes[sender] + size > self.limits.uploads_each:
            return f"your address may upload at most {self.limits.uploads_each // MIB} MiB {later}"
        if self._total + size > self.limits.uploads:
            most = f"{self.limits.uploads // MIB} MiB"
            return f"all visitors together may upload at most {most} {later}"
        self._sizes[sender] += size
        self._total += size
        return ""


def is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
