"""Stores the page, which is the same for everybody, once for each address of the server. Without
this, Gradio would copy the page's whole description and render it anew for each visitor. That would
be a third of the server's work for a visitor who opens the page."""

from __future__ import annotations

import gzip
import hashlib
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_ADDRESSES = 8  # a server has few; a page is about half a megabyte
# headers from which Gradio takes the addresses in the page
ADDRESS_HEADERS = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
BASE = b'<base href="./" />'  # what follows it in the page may have a relative address
END = b"</head>"

Address = tuple[Any, ...]


@dataclass(frozen=True)
class Page:
    """html: in UTF-8. zipped: the same, gzipped. etag: changes with the page."""

    html: bytes
    zipped: bytes
    etag: str

    def response(self, headers: Headers) -> Response:
        """The answer to a request with `headers`."""
        own = {"ETag": self.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        if self.etag in headers.get("if-none-match", ""):
            return Response(status_code=304, headers=own)
        if "gzip" not in headers.get("accept-encoding", ""):
            return HTMLResponse(self.html, headers=own)
        return HTMLResponse(self.zipped, headers={**own, "Content-Encoding": "gzip"})


class PageCache:
    """ASGI middleware that answers a request for / with the stored page, whatever its query. first,
    styles: HTML for the page's head, before Gradio's scripts and after its styles."""

    def __init__(self, app: ASGIApp, first: str = "", styles: str = "") -> None:
        self._app = app
        self._first = first.encode()
        self._styles = styles.encode()
        self._pages: OrderedDict[Address, Page] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_page(scope):
            return await self._app(scope, receive, send)
        address = _address(scope)
        if address not in self._pages:
            answer: list[Message] = []
            await self._app(_without_query(scope), receive, _recorder(answer))
            if not _is_complete(answer):
                return await _forward(answer, send)
            self._store(address, b"".join(message.get("body", b"") for message in answer))
        await self._pages[address].response(Headers(scope=scope))(scope, receive, send)

    def _store(self, address: Address, html: bytes) -> None:
        """Store a page, and drop the oldest if there are too many."""
        html = html.replace(BASE, BASE + self._first, 1).replace(END, self._styles + END, 1)
        etag = f'W/"{hashlib.sha256(html).hexdigest()[:16]}"'
        self._pages[address] = Page(html, gzip.compress(html), etag)
        if len(self._pages) > MOST_ADDRESSES:
            self._pages.popitem(last=False)


def _recorder(answer: list[Message]) -> Send:
    async def record(message: Message) -> None:
        answer.append(message)

    return record


async def _forward(answer: list[Message], send: Send) -> None:
    for message in answer:
        await send(message)


def _is_page(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and scope["path"] == "/"


def _without_query(scope: Scope) -> Scope:
    """Gradio renders other pages for some queries, which this app does not have."""
    return {**scope, "method": "GET", "query_string": b""}


def _address(scope: Scope) -> Address:
    headers = tuple(pair for pair in scope["headers"] if pair[0] in ADDRESS_HEADERS)
    return scope["scheme"], scope.get("root_path"), headers


def _is_complete(answer: list[Message]) -> bool:
    """Whether `answer` is a whole page, not an error, and sets no cookie."""
    if not answer or answer[0].get("status") != 200 or answer[-1].get("more_body"):
        return False
    return all(name.lower() != b"set-cookie" for name, _ in answer[0].get("headers", ()))
