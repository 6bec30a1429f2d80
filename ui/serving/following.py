"""Other visitors can follow a run in progress: they get the messages that its own page gets.
Independent of the page and of the kind of run.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Callable

from ui.serving.inbox import SECONDS_PER_BATCH, Inbox

SoFar = Callable[[], str | None]
_LOOK_SECONDS = 1.0  # after which a silent run is checked: it may have ended


class Followers:
    """The visitors who follow one run. If the run's own page closes before its last message is
    made, `follow` finds out by itself that the run is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # a follower who leaves, even while they enter, takes theirs away
        self._inboxes: weakref.WeakSet[Inbox[str]] = weakref.WeakSet()

    def made(self, make: Callable[[], str]) -> str:
        """Make the next message and send it to everyone. A visitor who arrives meanwhile gets it
        with all earlier ones."""
        with self._lock:
            message = make()
            for inbox in self._inboxes:
                inbox.put(as_followed(message))
            return message

    async def follow(
        self, so_far: SoFar, is_going: Callable[[], bool]
    ) -> AsyncGenerator[str, None]:
        """The messages of the run: all earlier ones at once, by `so_far`, then each as it is made.
        None if `so_far` is None: the run has just ended, and its recording was put away."""
        inbox = await asyncio.to_thread(self._enter, so_far)
        while inbox is not None:
            try:
                batch = await asyncio.wait_for(inbox.awaited(), _LOOK_SECONDS)
            except TimeoutError:
                if not is_going():
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
    """A message for those who follow: the page shows it as someone else's run."""
    return f'{message.removesuffix("}")},"followed":true}}'
