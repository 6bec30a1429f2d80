"""One piece of work in a thread of its own: it waits for its turn, posts what happens, and can be
stopped. Knows no page and no kind of work.

Torch's inference mode belongs to a thread, and Gradio moves a generator from thread to thread; so
whatever uses the models has a thread that nobody else uses.
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
from typing import Any, Generic, TypeVar

import torch

from sequoia import Pair, SequoiaError
from sequoia.errors import Stopped
from ui.serving.fair_queue import Cancelled, position_words
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Limits

SECONDS_PER_BATCH = 0.08  # a dozen messages a second: more than that no browser can paint
_log = logging.getLogger(__name__)

Event = TypeVar("Event")


@dataclass(frozen=True)
class Notice:
    """Words for the visitor, such as a position in the queue; None removes them."""

    text: str | None


@dataclass(frozen=True)
class Ended:
    """A run or race is over. end: why, a step's finish or "stopped", "time", "paused" (the steps
    asked for were made), "broken". meta: replaces what was said of the run at its start, where
    plain decoding was timed."""

    end: str
    error: str | None = None
    notice: str | None = None
    meta: dict[str, Any] | None = None


@dataclass(frozen=True)
class _Last(Generic[Event]):
    """The last event of a thread."""

    event: Event


class Job(ABC, Generic[Event]):
    """`start` begins in the background, and `batches` gives what happens until the work has ended.

    name: what messages call it. if_it_fails: what they add when it comes to nothing;
    if_out_of_memory: the same when there was too little memory.
    """

    name = "run"
    if_it_fails = ""
    if_out_of_memory = ""

    def __init__(self, model_host: ModelHost) -> None:
        self._model_host = model_host
        self._mail = SimpleQueue[Event | _Last[Event]]()
        self._halt = threading.Event()
        self._busy = False
        self._released = False

    @abstractmethod
    def work(self, steps: int | None) -> Event:
        """The work itself, in the thread; returns the last event. Raises Cancelled or Stopped once
        it is `halted`."""

    @abstractmethod
    def notice(self, words: str) -> Event:
        """An event that says what the job is doing now."""

    @abstractmethod
    def stopped(self, words: str) -> Event:
        """The last event of a job that was stopped."""

    @abstractmethod
    def failed(self, error: str) -> Event:
        """The last event of a job that failed."""

    def refused(self, problem: SequoiaError) -> str:
        """What to say of a request that cannot be served."""
        return str(problem)

    def free_caches(self) -> None:
        """Give back what the job keeps between its steps."""

    @property
    def busy(self) -> bool:
        """Whether the thread is running."""
        return self._busy

    @property
    def holding(self) -> bool:
        """Whether the job is paused, can go on, and keeps caches for it."""
        return False

    def start(self, steps: int | None = None) -> None:
        """Make `steps` more steps, or all that remain, in the background."""
        self._halt.clear()
        self._busy = True
        threading.Thread(target=self._run, args=(steps,), name=self.name, daemon=True).start()

    def halt(self) -> None:
        """Stop after the present step."""
        self._halt.set()

    def halted(self) -> bool:
        """Whether it was asked to stop."""
        return self._halt.is_set()

    def release(self) -> None:
        """Free the caches, after the present step if there is one; the job cannot go on then."""
        self._released = True
        if not self._busy:
            self.free_caches()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()

    def batches(self) -> Iterator[list[Event]]:
        """What happened since the last batch, at least one event, until the thread has ended."""
        while True:
            events, over = self._collect()
            yield events
            if over:
                return
            time.sleep(SECONDS_PER_BATCH)

    def reports(self) -> Iterator[Event]:
        """The newest event of each batch, for work whose every event says how far it is."""
        for events in self.batches():
            yield events[-1]

    def _collect(self) -> tuple[list[Event], bool]:
        """Everything posted so far, at least one event, and whether the last one is among it."""
        events: list[Event] = []
        post = self._mail.get()
        while not isinstance(post, _Last):
            events.append(post)
            try:
                post = self._mail.get_nowait()
            except Empty:
                return events, False
        return [*events, post.event], True

    # -- in the thread -----------------------------------------------------------------------------

    def post(self, event: Event) -> None:
        """Hand an event to whoever reads `batches`."""
        self._mail.put(event)

    @contextmanager
    def turn(self, chat: bool = False) -> Iterator[Pair]:
        """The pair, for as long as it is this job's turn; with `chat` prompts are chat messages,
        where the models have a template. Raises Cancelled once the job is halted while it waits."""
        if not self._model_host.settled:
            self.post(
                self.notice(f"waiting for the models to load; the {self.name} begins by itself")
            )
        with self._model_host.turn(self.halted, self._on_position) as pair:
            yield pair.as_chat() if chat and pair.template else pair

    def _on_position(self, before: int) -> None:
        self.post(self.notice(position_words(before)))

    def _run(self, steps: int | None) -> None:
        last = self.failed(self._unexpected())
        broken = True
        try:
            last = self.work(steps)
            broken = False
        except (Cancelled, Stopped) as problem:
            last = self.stopped(str(problem) or _joined("stopped", self.if_it_fails))
            broken = False
        except SequoiaError as problem:
            last = self.failed(self.refused(problem))
        except Exception as problem:
            if is_out_of_memory(problem):
                last = self.failed(_joined("out of memory", self.if_out_of_memory))
            else:
                _log.exception("a %s failed", self.name)
        finally:
            self._busy = False
            if broken or self._released:
                self.release()
            self._mail.put(_Last(last))

    def _unexpected(self) -> str:
        return _joined(
            f"the {self.name} broke off by an unexpected error",
            "the server's log has the details",
            self.if_it_fails,
        )


class RunJob(Job[Any]):
    """A run or a race: its events are Notice, what happens in the run itself, and Ended."""

    if_out_of_memory = "ask for fewer tokens or a smaller tree. The next run is not affected"

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host)
        self._limits = limits

    def notice(self, words: str | None) -> Notice:
        return Notice(words)

    def stopped(self, words: str) -> Ended:
        return Ended("stopped", notice=words)

    def failed(self, error: str) -> Ended:
        return Ended("broken", error)

    def overdue(self) -> str:
        """Words for a run whose time is up."""
        return f"stopped after {self._limits.seconds:g} s, the longest a {self.name} may take here"


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


def is_out_of_memory(problem: Exception) -> bool:
    """True for each way in which Python and torch say that no memory is left; on a CPU torch
    has no class for it."""
    return isinstance(
        problem, torch.OutOfMemoryError | MemoryError
    ) or "can't allocate memory" in str(problem)
