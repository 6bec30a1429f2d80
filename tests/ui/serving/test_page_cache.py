"""The page is rendered once for each address of the server. Guards against a stored answer that is
wrong for the visitor: the page for another address, or an error. tests/browser/test_page_size.py
tests the headers and the compression."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from starlette.responses import HTMLResponse
from starlette.types import Message, Receive, Scope, Send

from ui.serving.page_cache import MOST_ADDRESSES, PageCache


class Rendered:
    """An app that numbers its answers. Each answer has the status `status`. Like Gradio, it renders
    another page for some queries, which this app does not have."""

    def __init__(self, status: int = 200, cookie: bytes = b"") -> None:
        self._numbers = count(1)
        self._status = status
        self._headers = [(b"set-cookie", cookie)] if cookie else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["query_string"] == b""
        await send(
            {"type": "http.response.start", "status": self._status, "headers": self._headers}
        )
        await send({"type": "http.response.body", "body": b"page ", "more_body": True})
        await send({"type": "http.response.body", "body": b"%d" % next(self._numbers)})


def scope_of(query: bytes = b"", host: bytes = b"here", **changes: Any) -> Scope:
    return {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "query_string": query,
        "headers": [(b"host", host), (b"cookie", b"anything")],
        **changes,
    }


def answer(app: PageCache, scope: Scope) -> bytes:
    return b"".join(message.get("body", b"") for message in messages(app, scope))


def messages(app: PageCache, scope: Scope) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    asyncio.run(app(scope, receive, send))
    return sent


def test_the_page_is_rendered_once() -> None:
    app = PageCache(Rendered())
    first = answer(app, scope_of())
    assert first == b"page 1"
    for query in (b"run=abc&utm=1", b"page=lab", b"deep_link=abc", b"all_endpoints=1"):
        assert answer(app, scope_of(query)) == first
    assert answer(app, scope_of(method="HEAD")) == first  # the server leaves the body out
    assert answer(app, scope_of(headers=[(b"host", b"here")])) == first


@pytest.mark.parametrize(
    "other",
    [
        scope_of(host=b"there"),
        scope_of(scheme="https"),
        scope_of(root_path="/below"),
        scope_of(headers=[(b"host", b"here"), (b"x-forwarded-host", b"outside")]),
        scope_of(path="/config"),
    ],
    ids=lambda scope: f"{scope['method']} {scope['path']} {scope['query_string']!r}",
)
def test_another_page_is_not_mixed_up_with_the_stored_page(other: Scope) -> None:
    """The page and another page are requested in turn. Each request gets its own answer."""
    app = PageCache(Rendered())
    assert answer(app, other) == b"page 1"
    assert answer(app, scope_of()) == b"page 2"
    assert answer(app, other) in (b"page 1", b"page 3")
    assert answer(app, scope_of()) == b"page 2"


@pytest.mark.parametrize("app", [Rendered(500), Rendered(cookie=b"a=b")], ids=["error", "cookie"])
def test_an_error_or_a_page_with_a_cookie_is_not_stored(app: Rendered) -> None:
    """A page with a cookie is for one visitor only."""
    cache = PageCache(app)
    assert answer(cache, scope_of()) == b"page 1"
    assert answer(cache, scope_of()) == b"page 2"


def test_the_number_of_addresses_is_bounded() -> None:
    app = PageCache(Rendered())
    for number in range(2 * MOST_ADDRESSES):
        answer(app, scope_of(host=b"%d" % number))
    assert answer(app, scope_of(host=b"0")) != b"page 1"


def test_what_the_page_needs_before_its_scripts_is_put_into_it() -> None:
    html = b'<head><base href="./" /></head><body>{"theme_hash":"12ab"}</body>'

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse(html)(scope, receive, send)

    found = answer(PageCache(page, first="<1>", styles="<2>", frame="<3>"), scope_of()).decode()
    order = ["<base", "<1>", "theme.css?v=12ab", "<2>", "</head>", "<3>", "</body>"]
    assert [found.index(part) for part in order] == sorted(found.rindex(part) for part in order)
