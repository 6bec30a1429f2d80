"""Model work in a thread of its own: it waits for the models and its turn, and posts what happens.
Knows no kind of work.

Torch's inference mode belongs to a thread, and a generator of the page is moved between threads; so
the engine has its own.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import torch

from sequoia import Pair, SequoiaError
from ui.serving.fair_queue import Cancelled, position_words
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Limits

_SECONDS_A_MESSAGE = 0.08
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Notice:
    """Words for the visitor, such as a place in line; None takes them back."""

    text: str | None


@dataclass(frozen=True)
class Ended:
    """The thread is done. end: why, a step's finish or "stopped", "time", "paused"
    (the steps asked for were made), "broken". meta: replaces what was said of the run at its start,
    where plain decoding was timed."""

    end: str
    error: str | None = None
    notice: str | None = None
    meta: dict[str, Any] | None = None


class Worker(ABC):
    """`start` begins in the background; `events` gets what happens, Ended as the last of it. `work`
    is its name in words."""

    work = "run"

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        self.events = SimpleQueue[Any]()
        self._model_host = model_host
        self._limits = limits
        self._halt = threading.Event()
        self._busy = False
        self._released = False

    @abstractmethod
    def _serve(self, steps: int | None) -> Ended:
        """The work itself, in the thread."""

    @abstractmethod
    def _free(self) -> None:
        """Let go of all caches."""

    @property
    def busy(self) -> bool:
        return self._busy

    def start(self, steps: int | None = None) -> None:
        """Make `steps` more steps, or all that remain, in the background."""
        self._halt.clear()
        self._busy = True
        threading.Thread(target=self._work, args=(steps,), name=self.work, daemon=True).start()

    def halt(self) -> None:
        """Stop after the present step."""
        self._halt.set()

    def release(self) -> None:
        """Give the caches back, after the present step if there is one; the work cannot
        go on afterwards."""
        self._released = True
        if not self._busy:
            self._free()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()

    def batches(self) -> Iterator[list[Any]]:
        """What was posted, in batches, until the thread has ended: no browser is sent more
        than it can paint."""
        while True:
            events = self._collect()
            yield events
            if isinstance(events[-1], Ended):
                return
            time.sleep(_SECONDS_A_MESSAGE)

    def _collect(self) -> list[Any]:
        """Everything posted so far, at least one event; Ended is always the last."""
        events = [self.events.get()]
        try:
            while not isinstance(events[-1], Ended):
                events.append(self.events.get_nowait())
        except Empty:
            pass
        return events

    # -- in the thread -----------------------------------------------------------------------------

    def _work(self, steps: int | None) -> None:
        ended = Ended(
            "broken",
            f"the {self.work} broke off by an unexpected error; the server's log has the details",
        )
        try:
            ended = self._serve(steps)
        except Cancelled:
            ended = Ended("stopped", notice="stopped")
        except SequoiaError as problem:
            ended = Ended("broken", str(problem))
        except Exception as problem:
            if is_out_of_memory(problem):
                ended = Ended(
                    "broken",
                    (
                        "out of memory; ask for fewer tokens or a smaller tree. The next "
                        f"{self.work} is not affected"
                    ),
                )
            else:
                _log.exception("a %s failed", self.work)
        finally:
            self._busy = False
            if ended.error or self._released:
                self.release()
            self.events.put(ended)

    @contextmanager
    def _turn(self, chat: bool = False) -> Iterator[Pair]:
        """The pair, for as long as it is this work's turn; with `chat` prompts are chat messages,
        where the models can. Raises Cancelled once the work is halted while it waits."""
        if not self._model_host.settled:
            self.events.put(
                Notice(f"waiting for the models to load; the {self.work} begins by itself")
            )
        with self._model_host.turn(self._halt.is_set, self._on_position) as pair:
            yield pair.as_chat() if chat and pair.template else pair

    def _on_position(self, before: int) -> None:
        self.events.put(Notice(position_words(before)))


def overdue(work: str, limits: Limits) -> str:
    """Words for work whose time is up."""
    return f"stopped after {limits.seconds:g} s, the longest a {work} may take here"


def is_out_of_memory(problem: Exception) -> bool:
    """True for each way in which Python and torch say that no memory is left; on a CPU torch
    has no class for it."""
    return isinstance(
        problem, torch.OutOfMemoryError | MemoryError
    ) or "can't allocate memory" in str(problem)
