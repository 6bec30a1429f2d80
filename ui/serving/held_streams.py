"""Lets a page read its messages in several requests.

Gradio sends all messages of a page in one answer, which lasts until the page's jobs have ended. If
that answer breaks off, Gradio ends the jobs. But a browser opens at most six connections to a
server, for all its pages together. So this middleware reads Gradio's answer for the page and hands
it out in parts: the page asks again with the number of bytes that it has. If other pages of the
browser keep MOST_OPEN answers open, the part ends at once, and the page polls. The page's side is
ui/serving/web/held_stream.js. Requests of other programs pass unchanged.

A page that says that it was closed, or that is silent for GONE_SECONDS, is gone: its jobs end.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ui.serving.sender import client_of, in_one_line

# answers that one browser keeps open; two connections are left for its other requests
MOST_OPEN = 4
OPEN_SECONDS = 20.0  # after which an answer ends, and a page that is still there asks again
# Longer than an answer is open, so that the late end of one never counts as silence. Both together
# are less than a minute, within which a page that vanished is noticed.
GONE_SECONDS = 30.0
_log = logging.getLogger(__name__)


class HeldStream:
    """Gradio's answer to a request for messages. `number` tells apart the streams of a page."""

    def __init__(self, app: ASGIApp, scope: Scope, number: str) -> None:
        self.number = number
        self._kept = bytearray()
        self._dropped = 0  # bytes before `_kept`; the page has them
        self._is_over = False
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read(app, scope))

    def close(self) -> None:
        """Break Gradio's answer off."""
        self._task.cancel()

    def reaches(self, start: int) -> bool:
        """Whether the bytes from `start` on are kept."""
        return self._dropped <= start <= self._dropped + len(self._kept)

    def is_read(self, start: int) -> bool:
        """Whether the answer has ended and nothing follows its first `start` bytes."""
        return self._is_over and start == self._dropped + len(self._kept)

    async def parts(self, start: int, seconds: float) -> AsyncIterator[bytes]:
        """What follows the first `start` bytes, as it comes, until the answer ends or for
        `seconds`. Forgets the first `start` bytes."""
        del self._kept[: start - self._dropped]
        self._dropped = start
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        while self.reaches(start):
            self._news.clear()
            if part := bytes(self._kept[start - self._dropped :]):
                yield part
                start += len(part)
            left = end - clock()
            if self._is_over or left <= 0:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), left)

    async def _read(self, app: ASGIApp, scope: Scope) -> None:
        try:
            await app(scope, _never, self._take)
        except Exception as problem:
            _log.warning("a page's messages broke off: %s", in_one_line(problem))
        finally:
            self._is_over = True
            self._news.set()

    async def _take(self, message: Message) -> None:
        self._kept += message.get("body", b"")
        self._news.set()


async def _never() -> Message:
    """Gradio reads no body and learns by cancellation that its answer is no longer wanted."""
    await asyncio.Event().wait()
    raise AssertionError


class HeldStreams:
    """ASGI middleware. close: called in a thread when the page of a visitor is gone. keeps: whether
    a visitor has a job that would still be needed."""

    def __init__(
        self, app: ASGIApp, close: Callable[[str], None], keeps: Callable[[str], bool]
    ) -> None:
        self._app = app
        self._close = close
        self._keeps = keeps
        self._streams: dict[str, HeldStream] = {}  # by visitor
        self._leaving: dict[str, asyncio.Task[None]] = {}  # by visitor
        self._open: Counter[str] = Counter()  # answers kept open, by browser

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = f"{scope.get('method')} {scope.get('path', '').rpartition('/queue/')[2]}"
        query = QueryParams(scope.get("query_string", b""))
        who = query.get("session_hash", "")[:200]
        app = self._app
        if asked == "GET data" and who and re.fullmatch(r"[0-9]{1,15}", query.get("start", "")):
            return await self._send_part(who, query, scope, receive, send)
        if asked == "POST here" and who:
            app = self._here(who, scope)
        if asked == "POST left" and who:
            app = await self._left(who, scope)
        await app(scope, receive, send)

    async def _send_part(
        self, who: str, query: QueryParams, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer with what the page lacks. start: the number of bytes that it has. stream: which of
        its streams. browser: the browser whose connections are counted."""
        start = int(query["start"])
        stream = self._stream(who, query.get("stream", ""), start, scope)
        if stream is None:
            return await Response(status_code=410)(scope, receive, send)
        if stream.is_read(start):
            return await Response(status_code=204)(scope, receive, send)
        browser = query.get("browser")
        if browser == "":  # it stores nothing
            browser = f"{client_of(scope)} {Headers(scope=scope).get('user-agent', '')}"
        polls = browser is not None and self._open[browser] >= MOST_OPEN
        counted = Counter({browser: 1} if browser is not None and not polls else {})
        headers = {"Cache-Control": "no-store", "X-Polls": str(int(polls))}
        parts = stream.parts(start, 0 if polls else OPEN_SECONDS)
        self._stay(who)
        self._open += counted
        try:
            response = StreamingResponse(parts, headers=headers, media_type="text/event-stream")
            await response(scope, receive, send)
        finally:
            self._open -= counted
            if self._streams.get(who) is stream:
                self._leave_later(who, scope)

    def _stream(self, who: str, number: str, start: int, scope: Scope) -> HeldStream | None:
        """The stream that the page asks for; a new one if it has no bytes of it. None if it cannot
        be continued."""
        stream = self._streams.get(who)
        if (stream is None or stream.number != number) and start == 0:
            self._drop_stream(who)
            stream = self._streams[who] = HeldStream(self._app, scope, number)
        is_it = stream and stream.number == number and stream.reaches(start)
        return stream if is_it else None

    def _here(self, who: str, scope: Scope) -> Response:
        """The page is open, and reads no messages now. Status 204 tells it that it need not say so
        again before its next stream."""
        self._stay(who)
        self._drop_stream(who)
        if not self._keeps(who):
            return Response(status_code=204)
        self._leave_later(who, scope)
        return Response(status_code=200)

    async def _left(self, who: str, scope: Scope) -> Response:
        """The page is gone: end its jobs, and those of its requests that still wait."""
        self._stay(who)
        self._drop_stream(who)
        await scope["app"].get_blocks()._queue.clean_events(session_hash=who)
        await run_in_threadpool(self._close, who)
        return Response(status_code=204)

    def _drop_stream(self, who: str) -> None:
        if stream := self._streams.pop(who, None):
            stream.close()

    def _stay(self, who: str) -> None:
        if leaving := self._leaving.pop(who, None):
            leaving.cancel()

    def _leave_later(self, who: str, scope: Scope) -> None:
        self._stay(who)
        self._leaving[who] = asyncio.create_task(self._leave(who, scope))

    async def _leave(self, who: str, scope: Scope) -> None:
        await asyncio.sleep(GONE_SECONDS)
        del self._leaving[who]  # from here on, the page cannot stay
        await self._left(who, scope)
