"""Lets other visitors follow a run in progress: they get the same messages as the run's own page.
Independent of the page and of the kind of run.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Callable

from starlette.concurrency import run_in_threadpool

from ui.serving.inbox import SECONDS_PER_BATCH, Inbox

SoFar = Callable[[], str | None]
_LOOK_SECONDS = 1.0  # after so long without a message, check whether the run has ended


class Followers:
    """The visitors who follow one run. Each has an inbox of messages."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Weak references: an inbox is removed when its follower leaves, even during `_enter`.
        self._inboxes: weakref.WeakSet[Inbox[str]] = weakref.WeakSet()

    def made(self, make: Callable[[], str]) -> str:
        """Make the next message, send it to all followers and return it."""
        with self._lock:
            message = make()
            for inbox in self._inboxes:
                inbox.put(as_followed(message))
            return message

    async def follow(
        self, so_far: SoFar, is_going: Callable[[], bool]
    ) -> AsyncGenerator[str, None]:
        """The messages of the run: first the message of `so_far`, which contains all earlier ones,
        then each new message. No messages if `so_far` returns None."""
        inbox = await run_in_threadpool(self._enter, so_far)
        while inbox is not None:
            try:
                batch = await asyncio.wait_for(inbox.awaited(), _LOOK_SECONDS)
            except TimeoutError:
                if not is_going():  # if the run's own page closed, there may be no last message
                    return
                continue
            for message in batch.events:
                yield message
            await asyncio.sleep(SECONDS_PER_BATCH)

    def _enter(self, so_far: SoFar) -> Inbox[str] | None:
        inbox = Inbox[str]()
        with self._lock:
            message = so_far()
            if message is None:
                return None
            inbox.put(as_followed(message))
            self._inboxes.add(inbox)
        return inbox


def as_followed(message: str) -> str:
    """`message` for a follower, marked so that the page shows it as another visitor's run."""
    return f'{message.removesuffix("}")},"followed":true}}'
