"""A page reads its messages in parts, without losing or repeating a byte. No more than four answers
are open for one browser. A page that is closed or silent loses its jobs, and an open page keeps
them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from ui.serving import held_streams
from ui.serving.held_streams import MOST_OPEN, HeldStreams

Work = Callable[["Server"], Awaitable[None]]


class Server:
    """A server with HeldStreams. `say` makes the app send a message to all pages; `end` ends its
    answers. closed: the visitors whose pages are gone. cleaned: those whose requests were
    dropped."""

    def __init__(self) -> None:
        self.app = HeldStreams(self._answer, self.closed_now, lambda who: who in self.kept)
        self.closed: list[str] = []
        self.cleaned: list[str] = []
        self.kept: set[str] = set()
        self.queries: list[bytes] = []
        self.broken = 0
        self._messages: list[bytes] = []
        self._ended = False
        self._news = asyncio.Event()

    def closed_now(self, who: str) -> None:
        self.closed.append(who)

    def say(self, words: bytes, end: bool = False) -> None:
        self._messages.append(words)
        self._ended = end
        self._news.set()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.queries.append(scope["query_string"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        sent = 0
        try:
            while not self._ended or sent < len(self._messages):
                if sent == len(self._messages):
                    self._news.clear()
                    await self._news.wait()
                    continue
                body = self._messages[sent]
                sent += 1
                await send({"type": "http.response.body", "body": body, "more_body": True})
        except asyncio.CancelledError:
            self.broken += 1
            raise
        await send({"type": "http.response.body", "body": b""})

    async def gone(self) -> None:
        """Wait until the first page is gone."""
        async with asyncio.timeout(20):
            while not self.closed:
                await asyncio.sleep(0.005)

    async def clean_events(self, *, session_hash: str) -> None:
        self.cleaned.append(session_hash)

    def ask(self, path: str = "queue/data", method: str = "GET", **query: Any) -> Request:
        return Request(self, path, method, {"session_hash": "a", **query})


class Request:
    """One request. got: the body so far. status: of the answer, 0 before it."""

    def __init__(self, server: Server, path: str, method: str, query: dict[str, Any]) -> None:
        blocks = SimpleNamespace(_queue=server)
        scope = {
            "type": "http",
            "method": method,
            "path": "/gradio_api/" + path,
            "query_string": "&".join(f"{name}={one}" for name, one in query.items()).encode(),
            "headers": [(b"user-agent", b"browser")],
            "client": ("10.0.0.1", 1),
            "app": SimpleNamespace(get_blocks=lambda: blocks),
            "asgi": {"spec_version": "2.3"},
        }
        self.got = b""
        self.status = 0
        self.polls = False
        self._gone = asyncio.Event()
        self.task = asyncio.create_task(server.app(scope, self._receive, self._send))

    async def _receive(self) -> Message:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        self.got += message.get("body", b"")
        self.status = message.get("status", self.status)
        self.polls = self.polls or (b"x-polls", b"1") in message.get("headers", [])

    async def hang_up(self) -> Request:
        self._gone.set()
        return await self.ended()

    async def ended(self) -> Request:
        await asyncio.wait_for(self.task, 20)
        return self

    async def has(self, got: bytes) -> Request:
        async with asyncio.timeout(20):
            while self.got != got:
                await asyncio.sleep(0.005)
        return self


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Callable[[Work], None]:
    """Runs a coroutine with a Server. Pages that are silent for 0.3 s are gone."""
    monkeypatch.setattr(held_streams, "GONE_SECONDS", 0.3)

    def run(one: Work) -> None:
        async def with_server() -> None:
            await one(Server())

        asyncio.run(with_server())

    return run


def test_a_stream_continues_at_the_byte_where_a_connection_broke(
    work: Callable[[Work], None],
) -> None:
    async def one(server: Server) -> None:
        first = server.ask(start=0, stream=1)
        server.say(b"one, two, ")
        await first.has(b"one, two, ")
        await first.hang_up()
        server.say(b"three, ")
        second = await server.ask(start=5, stream=1).has(b"two, three, ")
        server.say(b"four", end=True)
        assert (await second.ended()).got == b"two, three, four"
        assert (await server.ask(start=21, stream=1).ended()).status == 204
        assert len(server.queries) == 1  # Gradio was asked once
        assert server.broken == 0

    work(one)


def test_a_stream_that_cannot_be_continued_is_refused(work: Callable[[Work], None]) -> None:
    async def one(server: Server) -> None:
        assert (
            await server.ask(start=4, stream=1).ended()
        ).status == 410  # the server was restarted
        server.say(b"one, two")
        await (await server.ask(start=0, stream=1).has(b"one, two")).hang_up()
        assert (await server.ask(start=99, stream=1).ended()).status == 410
        await (await server.ask(start=5, stream=1).has(b"two")).hang_up()
        assert (await server.ask(start=0, stream=1).ended()).status == 410  # forgotten meanwhile

    work(one)


@pytest.mark.parametrize("browser", ["key", ""], ids=["a key", "no storage"])
def test_the_fifth_page_of_a_browser_polls(work: Callable[[Work], None], browser: str) -> None:
    async def one(server: Server) -> None:
        server.say(b"one")
        pages = [
            server.ask(session_hash=i, start=0, stream=1, browser=browser) for i in range(MOST_OPEN)
        ]
        for page in pages:
            assert not (await page.has(b"one")).polls
        fifth = {"session_hash": "fifth", "stream": 1, "browser": browser}
        polled = await server.ask(start=0, **fifth).ended()
        assert (polled.got, polled.polls) == (b"one", True)
        assert not (await server.ask(session_hash="b", start=0, browser="else").has(b"one")).polls
        assert not (await server.ask(session_hash="c", start=0).has(b"one")).polls  # HTTP/2
        await pages[0].hang_up()
        server.say(b"two")
        assert not (await server.ask(start=3, **fifth).has(b"two")).polls

    work(one)


def test_the_jobs_of_a_closed_page_end_at_once(work: Callable[[Work], None]) -> None:
    async def one(server: Server) -> None:
        page = server.ask(start=0, stream=1)
        server.say(b"one")
        await page.has(b"one")
        assert (await server.ask("queue/left", "POST").ended()).status == 204
        assert (server.broken, server.cleaned, server.closed) == (1, ["a"], ["a"])
        await page.ended()
        await asyncio.sleep(0.4)
        assert server.closed == ["a"]

    work(one)


def test_a_silent_page_is_gone(work: Callable[[Work], None]) -> None:
    async def one(server: Server) -> None:
        server.say(b"one")
        await (await server.ask(start=0, stream=1).has(b"one")).hang_up()
        assert server.closed == []
        await server.gone()
        assert (server.broken, server.closed) == (1, ["a"])

    work(one)


def test_a_page_with_a_paused_job_stays_as_long_as_it_says_so(
    work: Callable[[Work], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_streams, "GONE_SECONDS", 1.0)

    async def one(server: Server) -> None:
        server.kept.add("a")
        server.say(b"one", end=True)
        await server.ask(start=0, stream=1).ended()
        for _ in range(6):
            assert (await server.ask("queue/here", "POST").ended()).status == 200
            await asyncio.sleep(0.2)
        assert server.closed == []
        await server.gone()

    work(one)


def test_an_idle_page_need_not_say_that_it_is_open(work: Callable[[Work], None]) -> None:
    async def one(server: Server) -> None:
        server.say(b"one", end=True)
        await server.ask(start=0, stream=1).ended()
        assert (await server.ask("queue/here", "POST").ended()).status == 204
        await asyncio.sleep(0.4)
        assert server.closed == []
        again = server.ask(start=0, stream=2)
        assert (await again.ended()).got == b"one"
        assert len(server.queries) == 2

    work(one)


@pytest.mark.parametrize(
    "query",
    [{}, {"start": "-1"}, {"start": "x"}],
    ids=lambda query: str(query)[:20],
)
def test_requests_of_other_programs_pass_unchanged(
    work: Callable[[Work], None], query: dict[str, str]
) -> None:
    async def one(server: Server) -> None:
        server.say(b"one", end=True)
        assert (await server.ask(**query).ended()).got == b"one"
        await asyncio.sleep(0.4)
        assert server.closed == []

    work(one)
