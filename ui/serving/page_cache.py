"""Stores the page, which is the same for everybody, once for each address of the server. Without
this, Gradio would copy the page's whole description and render it anew for each visitor. That would
be a third of the server's work for a visitor who opens the page."""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_ADDRESSES = 8  # a server has few; a page is about half a megabyte
# headers from which Gradio takes the addresses in the page
ADDRESS_HEADERS = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
BASE = b'<base href="./" />'  # what follows it in the page may have a relative address
END, BODY_END = b"</head>", b"</body>"
THEME = re.compile(rb'"theme_hash":"(\w+)"')

PRELOADED = (
    '<link rel="preload" as="font" type="font/woff2" crossorigin '
    'href="./static/fonts/IBMPlexSans/IBMPlexSans-{}.woff2">'
)


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
    styles: HTML for the page's head, before Gradio's scripts and after its styles. frame: HTML for
    the end of its body. The theme's styles, which Gradio's scripts would load, are in the head for
    its sake."""

    def __init__(self, app: ASGIApp, first: str = "", styles: str = "", frame: str = "") -> None:
        self._app = app
        self._first = first.encode()
        self._styles = styles.encode()
        self._frame = frame.encode()
        self._pages: dict[Any, Page] = {}  # by what Gradio takes the addresses in the page from

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_get = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if not is_get or scope["path"] != "/":
            return await self._app(scope, receive, send)
        headers = tuple(pair for pair in scope["headers"] if pair[0] in ADDRESS_HEADERS)
        address = scope["scheme"], scope.get("root_path"), headers
        if address not in self._pages:
            answer = await self._rendered(scope, receive)
            if not _is_for_everybody(answer[0]):
                for message in answer:
                    await send(message)
                return
            self._store(address, b"".join(message.get("body", b"") for message in answer))
        await self._pages[address].response(Headers(scope=scope))(scope, receive, send)

    async def _rendered(self, scope: Scope, receive: Receive) -> list[Message]:
        """Gradio's answer. For some queries it would render other pages, which this app does not
        have."""
        answer: list[Message] = []

        async def record(message: Message) -> None:
            answer.append(message)

        await self._app({**scope, "method": "GET", "query_string": b""}, receive, record)
        return answer

    def _store(self, address: Any, html: bytes) -> None:
        """Store a page. Drops the others if there are too many."""
        theme = THEME.search(html)
        styles = _theme_links(theme[1]) + self._styles if theme else self._styles
        html = html.replace(BASE, BASE + self._first, 1).replace(END, styles + END, 1)
        html = html.replace(BODY_END, self._frame + BODY_END, 1)
        etag = f'W/"{hashlib.sha256(html).hexdigest()[:16]}"'
        if len(self._pages) >= MOST_ADDRESSES:
            self._pages.clear()
        self._pages[address] = Page(html, gzip.compress(html), etag)


def _theme_links(version: bytes) -> bytes:
    """The theme's styles, and the fonts that would otherwise arrive after the first text."""
    fonts = "".join(PRELOADED.format(weight) for weight in ("Regular", "Bold"))
    return b'<link rel="stylesheet" href="./theme.css?v=%s">' % version + fonts.encode()


def _is_for_everybody(start: Message) -> bool:
    """Whether the answer that begins with `start` is a page, not an error, and sets no cookie."""
    return start["status"] == 200 and "set-cookie" not in Headers(raw=start["headers"])
