"""A fair line of visitors before one engine. Knows no models."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ui.serving.sessions import Busy

_LOOK_SECONDS = 0.1


class Cancelled(Exception):
    """The visitor left the line before it was their turn."""


def position_words(before: int, what: str = "it") -> str:
    """For a visitor whom so many stand before."""
    return f"{before} {'run' if before == 1 else 'runs'} before yours; {what} begins by itself"


class FairQueue:
    """First come, first served; whoever stands first has the engine. At most `most` stand in
    line."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._tickets: deque[object] = deque()

    def __len__(self) -> int:
        return len(self._tickets)

    @contextmanager
    def turn(
        self, should_stop: Callable[[], bool], on_position: Callable[[int], None]
    ) -> Iterator[None]:
        """Wait for the turn and hold it. `on_position` hears how many stand before the visitor, at
        first and at each change.

        Raises Cancelled once `should_stop` says so, and Busy where the line is full.
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
                raise Busy(f"{len(self._tickets)} runs are in line already; try again in a minute")
            self._tickets.append(ticket)

    def _wait(
        self, ticket: object, should_stop: Callable[[], bool], on_position: Callable[[int], None]
    ) -> None:
        last_position = 0
        with self._changed:
            while (before := self._tickets.index(ticket)) > 0:
                if should_stop():
                    raise Cancelled
                if before != last_position:
                    on_position(before)
                    last_position = before
                self._changed.wait(_LOOK_SECONDS)
