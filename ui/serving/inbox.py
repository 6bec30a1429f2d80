"""Passes events from a job's thread to a reader. The reader is another thread, or an async handler,
which occupies no thread while it waits. Independent of the page and of the kind of job.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.concurrency import run_in_threadpool

SECONDS_PER_BATCH = 0.08  # about a dozen messages per second, as many as a browser can draw

Event = TypeVar("Event")
Made = TypeVar("Made")
Wake = Callable[[], None]


@dataclass(frozen=True)
class Batch(Generic[Event]):
    """Events in order; there may be none if the job has ended. over: whether it has ended."""

    events: list[Event]
    over: bool


class Inbox(Generic[Event]):
    """Events from a job for its reader. If a visitor resumes a paused run before the last event is
    read, there are several readers for a while. Each event then goes to only one of them, and all
    of them stop when the job ends."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._events: list[Event] = []
        self._over = False
        self._wakers: list[Wake] = []
        self._readers = 0  # number of readers that are waiting now
        self._read_at = time.monotonic()

    def put(self, event: Event, last: bool = False) -> None:
        """Add an event. After the `last` one, further events are dropped and readers stop."""
        with self._changed:
            if self._over:
                return
            self._events.append(event)
            self._over = last
            self._changed.notify_all()
            for wake in self._wakers:
                wake()
            self._wakers.clear()

    def reopen(self) -> None:
        """Accept further events after the last one. Unread events stay."""
        with self._changed:
            self._over = False
            self._read_at = time.monotonic()

    def is_read(self, seconds: float) -> bool:
        """Whether a reader is waiting for events, or was less than `seconds` ago. Creating and
        reopening the inbox count as reading."""
        return self._readers > 0 or time.monotonic() - self._read_at < seconds

    @property
    def is_finished(self) -> bool:
        """Whether the last event has been read."""
        return self._over and not self._events

    def wait(self) -> Batch[Event]:
        """All unread events. Waits until there is one or the job has ended."""
        with self._changed, self._reading():
            self._changed.wait_for(lambda: self._events or self._over)
            return self._take()

    async def awaited(self) -> Batch[Event]:
        """The same as `wait`, for an async handler."""
        with self._reading():
            while True:
                posted = asyncio.Event()
                with self._changed:
                    if self._events or self._over:
                        return self._take()
                    self._wakers.append(wake := _waker(posted))
                try:
                    await posted.wait()
                finally:
                    self._forget(wake)

    def _forget(self, wake: Wake) -> None:
        """Remove `wake`, because its reader no longer waits."""
        with self._changed, suppress(ValueError):
            self._wakers.remove(wake)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._changed:
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._read_at = time.monotonic()

    def _take(self) -> Batch[Event]:
        batch = Batch(self._events, self._over)
        self._events = []
        return batch


def _waker(posted: asyncio.Event) -> Wake:
    """A function that sets `posted` in the current event loop. Any thread may call it."""
    loop = asyncio.get_running_loop()

    def wake() -> None:
        if not loop.is_closed():  # the server may have stopped meanwhile
            loop.call_soon_threadsafe(posted.set)

    return wake


class Received(Generic[Event, Made]):
    """The result of `make` for each batch of events in `inbox`, until the last event was read. A
    thread iterates with `for`, an async handler with `async for`."""

    def __init__(self, inbox: Inbox[Event], make: Callable[[list[Event]], Made]) -> None:
        self._inbox = inbox
        self._make = make

    def __iter__(self) -> Iterator[Made]:
        while True:
            batch = self._inbox.wait()
            if batch.events:
                yield self._make(batch.events)
            if batch.over:
                return
            time.sleep(SECONDS_PER_BATCH)

    async def __aiter__(self) -> AsyncIterator[Made]:
        while True:
            batch = await self._inbox.awaited()
            # in a thread: `make` takes milliseconds for a large tree, and would block other pages
            if batch.events:
                yield await run_in_threadpool(self._make, batch.events)
            if batch.over:
                return
            await asyncio.sleep(SECONDS_PER_BATCH)
