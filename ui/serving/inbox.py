"""Passes events from a job's thread to a reader, which looks for them a dozen times a second. A
reader that is an async handler occupies no thread. Independent of the page and of the kind of job.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

from starlette.concurrency import run_in_threadpool

SECONDS_PER_BATCH = 0.08  # about a dozen messages per second, as many as a browser can draw

Event = TypeVar("Event")
Made = TypeVar("Made")


class Batch(NamedTuple, Generic[Event]):
    """The unread events in order. over: whether the job has ended."""

    events: list[Event]
    over: bool


class Inbox(Generic[Event]):
    """Events from a job for its reader. If a visitor resumes a paused run before the last event is
    read, there are several readers for a while. Each event then goes to only one of them, and all
    of them stop when the job ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._over = False
        self._read_at = time.monotonic()

    def put(self, event: Event, last: bool = False) -> None:
        """Add an event. After the `last` one, further events are dropped and readers stop."""
        with self._lock:
            if not self._over:
                self._events.append(event)
                self._over = last

    def reopen(self) -> None:
        """Accept further events after the last one. Unread events stay."""
        with self._lock:
            self._over = False
            self._read_at = time.monotonic()

    def is_read(self, seconds: float) -> bool:
        """Whether a reader looked for events less than `seconds` ago. Creating and reopening the
        inbox count as reading."""
        return time.monotonic() - self._read_at < seconds

    @property
    def is_finished(self) -> bool:
        """Whether the last event has been read."""
        return self._over and not self._events

    def take(self) -> Batch[Event]:
        with self._lock:
            self._read_at = time.monotonic()
            batch = Batch(self._events, self._over)
            self._events = []
            return batch


class Received(Generic[Event, Made]):
    """The result of `make` for each batch of events in `inbox`, until the last event was read. A
    thread iterates with `for`, an async handler with `async for`."""

    def __init__(self, inbox: Inbox[Event], make: Callable[[list[Event]], Made]) -> None:
        self._inbox = inbox
        self._make = make

    def __iter__(self) -> Iterator[Made]:
        while True:
            batch = self._inbox.take()
            if batch.events:
                yield self._make(batch.events)
            if batch.over:
                return
            time.sleep(SECONDS_PER_BATCH)

    async def __aiter__(self) -> AsyncIterator[Made]:
        while True:
            batch = self._inbox.take()
            # in a thread: `make` takes milliseconds for a large tree, and would block other pages
            if batch.events:
                yield await run_in_threadpool(self._make, batch.events)
            if batch.over:
                return
            await asyncio.sleep(SECONDS_PER_BATCH)
