"""A piece of work in a thread of its own that is done once and can be stopped, with news for
whoever watches. Knows no page."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, Protocol, TypeVar

from sequoia import SequoiaError
from sequoia.errors import Stopped
from ui.serving.fair_queue import Cancelled
from ui.serving.worker import is_out_of_memory

_log = logging.getLogger(__name__)


class News(Protocol):
    """What is told of a task; `over` marks the last of it."""

    @property
    def over(self) -> bool: ...


N = TypeVar("N", bound=News)


class Task(ABC, Generic[N]):
    """Holds nothing afterwards, so that a session keeps it like a run that has ended. what: its
    name in messages; kept: what is left as it was if it comes to nothing."""

    what: str
    kept: str
    holding = False

    def __init__(self) -> None:
        self.events: SimpleQueue[N] = SimpleQueue()
        self._halt = threading.Event()
        self._busy = False

    @abstractmethod
    def do(self) -> N:
        """The work, in the thread: puts news into `events`, raises Cancelled where it was `halted`,
        and gives the last news back."""

    @abstractmethod
    def ended(self, words: str = "", error: str | None = None) -> N:
        """The last news of a task that came to nothing."""

    @property
    def busy(self) -> bool:
        return self._busy

    def start(self, _steps: int | None = None) -> None:
        """Begin in the background."""
        self._busy = True
        threading.Thread(target=self._work, name=self.what, daemon=True).start()

    def halted(self) -> bool:
        """Whether it was asked to stop."""
        return self._halt.is_set()

    def halt(self) -> None:
        """Ask it to stop; it does as soon as `do` looks."""
        self._halt.set()

    def release(self) -> None:
        self.halt()

    def news(self) -> Iterator[N]:
        """News until the end, each the newest at its time."""
        while True:
            one = self.events.get()
            with suppress(Empty):
                while not one.over:
                    one = self.events.get_nowait()
            yield one
            if one.over:
                return

    def refused(self, problem: SequoiaError) -> str:
        """Words for what went wrong."""
        return str(problem)

    # -- in the thread -----------------------------------------------------------------------------

    def _work(self) -> None:
        broken = (
            f"the {self.what} broke off by an unexpected error; the server's log has the "
            f"details; {self.kept}"
        )
        last = self.ended(error=broken)
        try:
            last = self.do()
        except (Cancelled, Stopped) as problem:
            last = self.ended(words=str(problem) or f"stopped; {self.kept}")
        except SequoiaError as problem:
            last = self.ended(error=self.refused(problem))
        except Exception as problem:
            if is_out_of_memory(problem):
                last = self.ended(error=f"out of memory; {self.kept}")
            else:
                _log.exception("a %s failed", self.what)
        finally:
            self._busy = False
            self.events.put(last)
