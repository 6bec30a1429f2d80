"""Stores the page, which is the same for everybody, once for each address of the server. Without
this, Gradio would copy the page's whole description and render it anew for each visitor. That would
be a third of the server's work for a visitor who opens the page."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_ADDRESSES = 8  # a server has few; a page is about half a megabyte
# headers from which Gradio takes the addresses in the page
ADDRESS_HEADERS = (b"host", b"x-forwarded-host", b"x-forwarded-proto", b"x-gradio-server")
# query parameters that make Gradio render a different page
OTHER_PAGES = frozenset({b"deep_link", b"page", b"all_endpoints"})

Address = tuple[Any, ...]


class PageCache:
    """ASGI middleware that answers GET / with the stored page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._pages: OrderedDict[Address, list[Message]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_page(scope):
            return await self._app(scope, receive, send)
        address = _address(scope)
        if address not in self._pages:
            answer = _Answer(send)
            await self._app(scope, receive, answer.send)
            return self._store(address, answer.messages)
        for message in self._pages[address]:
            await send(message)

    def _store(self, address: Address, answer: list[Message]) -> None:
        """Store `answer` if it is a whole page, and drop the oldest page if there are too many."""
        if not _is_complete(answer):
            return
        self._pages[address] = answer
        if len(self._pages) > MOST_ADDRESSES:
            self._pages.popitem(last=False)


class _Answer:
    """Forwards messages and records them."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.messages: list[Message] = []

    async def send(self, message: Message) -> None:
        self.messages.append(message)
        await self._send(message)


def _is_page(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
        return False
    parameters = parse_qsl(scope["query_string"], keep_blank_values=True)
    return OTHER_PAGES.isdisjoint(name for name, _ in parameters)


def _address(scope: Scope) -> Address:
    headers = tuple(pair for pair in scope["headers"] if pair[0] in ADDRESS_HEADERS)
    return scope["scheme"], scope.get("root_path"), headers


def _is_complete(answer: list[Message]) -> bool:
    """Whether `answer` is a whole page, not an error, and sets no cookie."""
    if not answer or answer[0].get("status") != 200 or answer[-1].get("more_body"):
        return False
    return all(name.lower() != b"set-cookie" for name, _ in answer[0].get("headers", ()))
