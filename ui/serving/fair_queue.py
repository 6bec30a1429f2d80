"""A first-come, first-served queue of visitors for one engine. Independent of models."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sequoia.algorithm.progress import ShouldStop
from ui.serving.sessions import Busy

_LOOK_SECONDS = 0.1
# Called with the number of visitors ahead, at first and at each change.
OnPosition = Callable[[int], None]


class Cancelled(Exception):
    """The visitor left the queue before their turn."""


def position_words(ahead: int, what: str = "yours") -> str:
    """How many runs are ahead, in words; `what` starts after them."""
    return f"{ahead} run{'s' * (ahead != 1)} ahead of you; {what} starts automatically"


class FairQueue:
    """First come, first served: the first in the queue has the engine. The queue holds at most
    `most`, the running one included."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._tickets: deque[object] = deque()

    def __len__(self) -> int:
        return len(self._tickets)

    @property
    def awaited(self) -> bool:
        """Whether a visitor waits behind the one being served."""
        return len(self._tickets) > 1

    @contextmanager
    def turn(self, should_stop: ShouldStop, on_position: OnPosition) -> Iterator[None]:
        """Wait for the turn and hold it. `on_position` is called with the number of visitors ahead,
        at first and at each change.

        Raises Cancelled once `should_stop` returns True, and Busy if the queue is full.
        """
        ticket = object()
        self._enter(ticket)
        try:
            self._wait(ticket, should_stop, on_position)
            yield
        finally:
            with self._changed:
                self._tickets.remove(ticket)
                self._changed.notify_all()

    def _enter(self, ticket: object) -> None:
        with self._changed:
            if len(self._tickets) >= self._most:
                raise Busy(f"{len(self._tickets)} runs are waiting already; try again in a minute")
            self._tickets.append(ticket)

    def _wait(self, ticket: object, should_stop: ShouldStop, on_position: OnPosition) -> None:
        last_position = 0
        with self._changed:
            while (ahead := self._tickets.index(ticket)) > 0:
                if should_stop():
                    raise Cancelled
                if ahead != last_position:
                    on_position(ahead)
                    last_position = ahead
                self._changed.wait(_LOOK_SECONDS)
