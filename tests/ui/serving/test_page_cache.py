"""The page is rendered once for each address of the server. Guards against a stored answer that is
wrong for the visitor: the page for another address, the page of a deep link, or an error."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from ui.serving.page_cache import MOST_ADDRESSES, PageCache


class Rendered:
    """An app that numbers its answers. Each answer has the status `status`."""

    def __init__(self, status: int = 200, cookie: bytes = b"") -> None:
        self._numbers = count(1)
        self._status = status
        self._headers = [(b"Set-Cookie", cookie)] if cookie else []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError

    asyncio.run(app(scope, receive, send))
    return b"".join(message.get("body", b"") for message in sent)


def test_the_page_is_rendered_once() -> None:
    app = PageCache(Rendered())
    first = answer(app, scope_of())
    assert first == b"page 1"
    assert answer(app, scope_of(b"run=abc&utm=1")) == first
    assert answer(app, scope_of(headers=[(b"host", b"here")])) == first


@pytest.mark.parametrize(
    "other",
    [
        scope_of(host=b"there"),
        scope_of(scheme="https"),
        scope_of(root_path="/below"),
        scope_of(headers=[(b"host", b"here"), (b"x-forwarded-host", b"outside")]),
        scope_of(b"deep_link=abc"),
        scope_of(b"a=1&%64eep_link=abc"),
        scope_of(b"page=lab"),
        scope_of(path="/config"),
        scope_of(method="HEAD"),
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


def test_an_error_is_not_stored() -> None:
    app = PageCache(Rendered(500))
    assert answer(app, scope_of()) == b"page 1"
    assert answer(app, scope_of()) == b"page 2"


def test_a_page_with_a_cookie_is_for_one_visitor_only() -> None:
    app = PageCache(Rendered(cookie=b"who=me"))
    assert answer(app, scope_of()) == b"page 1"
    assert answer(app, scope_of()) == b"page 2"


def test_an_answer_that_was_broken_off_is_not_stored() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"pa", "more_body": True})

    app = PageCache(broken)
    assert answer(app, scope_of()) == b"pa"
    assert not app._pages


def test_the_number_of_addresses_is_bounded() -> None:
    app = PageCache(Rendered())
    for number in range(2 * MOST_ADDRESSES):
        answer(app, scope_of(host=b"%d" % number))
    assert len(app._pages) == MOST_ADDRESSES
