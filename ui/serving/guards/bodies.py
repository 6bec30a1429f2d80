"""How much a request may send. Gradio itself limits only single files. The sizes are in
ui/serving/limits.py.

A request that uploads nothing is read whole before Gradio gets it: 60 MB of nested lists would take
4 GB while they are parsed, and nobody else would be served meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections import deque

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.serving.guards.refusal import log_failure, refuse
from ui.serving.guards.sender import Network, sender
from ui.serving.limits import MIB, Limits

MAX_LISTS = 20_000  # lists and objects in one request; the page sends a few hundred
MAX_VALUES = 400_000  # values in one request
_AROUND_A_FILE = 64 * 1024  # bytes of an upload beside the file itself
_BLOCK = 4096  # bytes that a file counts beside its size: a disk keeps even a tiny one in a block
_NAME = b"filename"  # stands before each file of an upload


class TooMuch(Exception):
    """The request may not send this; the text says why."""


class BodyLimits:
    """ASGI middleware that refuses requests which send too much."""

    def __init__(self, app: ASGIApp, limits: Limits, proxies: tuple[Network, ...]) -> None:
        self._app = app
        self._limits = limits
        self._proxies = proxies
        self._uploads = RecentUploads(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        declared = Headers(scope=scope).get("content-length", "0")
        length = int(declared) if declared.isdecimal() else 0
        try:
            if scope["path"].rstrip("/").endswith("/upload"):
                receive = self._counted(scope, receive, length)
            else:
                receive = await self._read(receive, length)
        except TooMuch as problem:
            return await refuse(scope, receive, send, 413, str(problem))
        await self._app(scope, receive, send)

    # -- requests that upload nothing --------------------------------------------------------------

    async def _read(self, receive: Receive, length: int) -> Receive:
        """The body, read whole, as a new `receive`."""
        self._check_request(length)
        messages: deque[Message] = deque()
        size = 0
        more = True
        while more:
            message = await receive()
            messages.append(message)
            size += len(message.get("body", b""))
            self._check_request(size)
            more = message["type"] == "http.request" and message.get("more_body", False)
        check_count(b"".join(message.get("body", b"") for message in messages))

        async def again() -> Message:
            return messages.popleft() if messages else await receive()

        return again

    def _check_request(self, size: int) -> None:
        if size > self._limits.request:
            raise TooMuch(f"a request may have {self._limits.request // MIB} MiB")

    # -- uploads -----------------------------------------------------------------------------------

    def _counted(self, scope: Scope, receive: Receive, length: int) -> Receive:
        """`receive` for an upload, which ends with an error where it exceeds a limit. Gradio takes
        that error for one of its own and removes what has arrived."""
        address = sender(scope, self._proxies).client
        self._check_upload(length)
        self._uploads.check(address, length)
        size = 0
        names = NameCount()

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            body = message.get("body", b"")
            size += len(body)
            try:
                self._check_upload(size)
                self._uploads.add(address, len(body) + _BLOCK * names.add(body))
            except TooMuch as problem:
                log_failure(scope, 413, str(problem))
                raise MultiPartException(str(problem)) from None
            return message

        return counted

    def _check_upload(self, size: int) -> None:
        if size > self._limits.upload + _AROUND_A_FILE:
            raise TooMuch(f"a file may have {self._limits.upload // MIB} MiB")


class NameCount:
    """Counts the files of an upload, whose body comes in pieces. Counts the word also in the files
    themselves, where it is rare."""

    def __init__(self) -> None:
        self._end = b""  # of the last piece, where the word may have begun

    def add(self, piece: bytes) -> int:
        """How many more files have begun."""
        text = self._end + piece.lower()
        self._end = text[-(len(_NAME) - 1) :]
        return text.count(_NAME)


class RecentUploads:
    """Bytes uploaded within the last minutes, by address and in all."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._arrived: deque[tuple[float, str, int]] = deque()
        self._of: dict[str, int] = {}
        self._total = 0

    def check(self, address: str, size: int) -> None:
        """Raises TooMuch if `size` more bytes from `address` are too many."""
        with self._lock:
            self._forget_old()
            self._check(address, size)

    def add(self, address: str, size: int) -> None:
        """Count `size` bytes from `address`, or raise TooMuch."""
        if not size:
            return
        with self._lock:
            self._forget_old()
            self._check(address, size)
            self._arrived.append((time.monotonic(), address, size))
            self._of[address] = self._of.get(address, 0) + size
            self._total += size

    def _check(self, address: str, size: int) -> None:
        wait = f"try again in {self._limits.upload_seconds / 60:g} minutes"
        if self._of.get(address, 0) + size > self._limits.uploads_each:
            raise TooMuch(f"too much was uploaded from your address lately; {wait}")
        if self._total + size > self._limits.uploads:
            raise TooMuch(f"too much was uploaded to this server lately; {wait}")

    def _forget_old(self) -> None:
        end = time.monotonic() - self._limits.upload_seconds
        while self._arrived and self._arrived[0][0] < end:
            _, address, size = self._arrived.popleft()
            self._total -= size
            self._of[address] -= size
            if not self._of[address]:
                del self._of[address]


def check_count(body: bytes) -> None:
    """Raises TooMuch if JSON in `body` has too many values. Counts characters, also those in
    texts, which takes a millisecond for each MiB."""
    if body.count(b"[") + body.count(b"{") > MAX_LISTS or body.count(b",") > MAX_VALUES:
        raise TooMuch("a request may not have so many values")
