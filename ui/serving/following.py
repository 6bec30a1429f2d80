"""Others may follow a run while it is made: they get what its own page gets. Independent of the
page and of the kind of run.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Callable

from ui.serving.inbox import SECONDS_PER_BATCH, Inbox

_LOOK_SECONDS = 1.0  # between two looks whether a silent run is still going


class Followers:
    """Those who follow one run. A run's page may be gone before its last message is made; then
    they notice by themselves that it is over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # a follower who leaves, even while they enter, takes theirs away
        self._inboxes: weakref.WeakSet[Inbox[str]] = weakref.WeakSet()

    def made(self, make: Callable[[], str]) -> str:
        """The next message, by `make`, which is sent to everyone. A visitor who comes meanwhile
        gets it with all earlier ones."""
        with self._lock:
            message = make()
            for inbox in self._inboxes:
                inbox.put(as_followed(message))
            return message

    async def follow(
        self, so_far: Callable[[], str], is_going: Callable[[], bool]
    ) -> AsyncGenerator[str, None]:
        """The messages of the run: all earlier ones at once, by `so_far`, then each as it is
        made."""
        inbox = await asyncio.to_thread(self._enter, so_far)
        while True:
            try:
                batch = await asyncio.wait_for(inbox.awaited(), _LOOK_SECONDS)
            except TimeoutError:
                if not is_going():
                    return
                continue
            for message in batch.events:
                yield message
            await asyncio.sleep(SECONDS_PER_BATCH)

    def _enter(self, so_far: Callable[[], str]) -> Inbox[str]:
        inbox = Inbox[str]()
        with self._lock:
            inbox.put(as_followed(so_far()))
            self._inboxes.add(inbox)
        return inbox


def as_followed(message: str) -> str:
    """A message for those who follow: the page shows it as someone else's run."""
    return f'{message.removesuffix("}")},"followed":true}}'
