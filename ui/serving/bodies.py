"""Limits how much requests may send. Gradio itself limits only the size and the number of files.
The limits in bytes are in ui/serving/limits.py.

A request that uploads no file is read to its end and checked before Gradio gets it. Otherwise 60 MB
of nested lists would take 4 GB of memory while Gradio parses them, and no other visitor would be
served meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections import deque

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.serving.limits import MIB, Limits
from ui.serving.log_lines import log_failure, refuse
from ui.serving.sender import client_of, household

MAX_LISTS = 20_000  # lists and objects in one request; the page sends a few hundred
MAX_VALUES = 400_000  # values in one request
_AROUND_A_FILE = 64 * 1024  # bytes that an upload may have in addition to the file itself
_BLOCK = 4096  # bytes added to the size of each file: even a tiny file occupies a block on disk
_NAME = b"filename"  # precedes each file in the body of an upload


class TooMuch(Exception):
    """The request sends too much. The message says which limit it exceeds."""


class BodyLimits:
    """ASGI middleware that refuses requests which send too much."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits
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
        """Read the whole body and check it. Returns a new `receive` that replays it. Raises
        TooMuch."""
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
            raise TooMuch(f"a request may have at most {self._limits.request // MIB} MiB")

    # -- uploads -----------------------------------------------------------------------------------

    def _counted(self, scope: Scope, receive: Receive, length: int) -> Receive:
        """A `receive` for an upload. It raises MultiPartException when the upload exceeds a limit.
        Gradio handles this error like its own and removes the part that has arrived. This function
        itself raises TooMuch at once if the declared `length` exceeds a limit."""
        address = household(client_of(scope))
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
            raise TooMuch(f"an upload may have at most {self._limits.upload // MIB} MiB")


class NameCount:
    """Counts the files in an upload, whose body arrives in pieces. To do so, it counts the word
    "filename". The word is also counted if it occurs inside a file, which is rare."""

    def __init__(self) -> None:
        self._end = b""  # the end of the last piece, in which the word may have begun

    def add(self, piece: bytes) -> int:
        """The number of files that begin in `piece`."""
        text = self._end + piece.lower()
        self._end = text[-(len(_NAME) - 1) :]
        return text.count(_NAME)


class RecentUploads:
    """The bytes uploaded within the last `upload_seconds`, by address and in total."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._arrived: deque[tuple[float, str, int]] = deque()
        self._of: dict[str, int] = {}
        self._total = 0

    def check(self, address: str, size: int) -> None:
        """Raises TooMuch if `size` more bytes from `address` would exceed a limit."""
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
        minutes = f"{self._limits.upload_seconds / 60:.3g} minutes"
        if self._of.get(address, 0) + size > self._limits.uploads_each:
            most = f"{self._limits.uploads_each // MIB} MiB"
            raise TooMuch(
                f"your address may upload at most {most} in {minutes}; try again in {minutes}"
            )
        if self._total + size > self._limits.uploads:
            most = f"{self._limits.uploads // MIB} MiB"
            raise TooMuch(
                f"all visitors together may upload at most {most} in {minutes}; try again in "
                f"{minutes}"
            )

    def _forget_old(self) -> None:
        end = time.monotonic() - self._limits.upload_seconds
        while self._arrived and self._arrived[0][0] < end:
            _, address, size = self._arrived.popleft()
            self._total -= size
            self._of[address] -= size
            if not self._of[address]:
                del self._of[address]


def check_count(body: bytes) -> None:
    """Raises TooMuch if the JSON in `body` has too many lists, objects or values. Counts brackets
    and commas, also those inside strings. This takes a millisecond per MiB."""
    if body.count(b"[") + body.count(b"{") > MAX_LISTS or body.count(b",") > MAX_VALUES:
        raise TooMuch(
            f"a request may have at most {MAX_LISTS:,} lists and objects, and at most "
            f"{MAX_VALUES:,} values"
        )
