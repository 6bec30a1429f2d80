"""A fair line of visitors before one engine. Knows no models."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ui.serving.sessions import Busy

_LOOK_SECONDS = 0.1


class Left(Exception):
    """The visitor left the line before it was their turn."""


def place_words(before: int, what: str = "it") -> str:
    """For a visitor whom so many stand before."""
    return f"{before} {'run' if before == 1 else 'runs'} before yours; {what} begins by itself"


class Line:
    """First come, first served; whoever stands first has the engine. At most `most` stand in
    line."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._standing: deque[object] = deque()

    def __len__(self) -> int:
        return len(self._standing)

    @contextmanager
    def turn(self, gone: Callable[[], bool], tell: Callable[[int], None]) -> Iterator[None]:
        """Wait for the turn and hold it. `tell` hears how many stand before the visitor, at
        first and at each change.

        Raises Left once `gone` says so, and Busy where the line is full.
        """
        ticket = object()
        self._enter(ticket)
        try:
            self._wait(ticket, gone, tell)
            yield
        finally:
            with self._changed:
                self._standing.remove(ticket)
                self._changed.notify_all()

    def _enter(self, ticket: object) -> None:
        with self._changed:
            if len(self._standing) >= self._most:
                raise Busy(f"{len(self._standing)} runs are in line already; try again in a minute")
            self._standing.append(ticket)

    def _wait(self, ticket: object, gone: Callable[[], bool], tell: Callable[[int], None]) -> None:
        told = 0
        with self._changed:
            while (before := self._standing.index(ticket)) > 0:
                if gone():
                    raise Left
                if before != told:
                    tell(before)
                    told = before
                self._changed.wait(_LOOK_SECONDS)
