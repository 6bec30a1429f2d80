"""A job in its own thread: it waits for its turn, posts events, and can be stopped. Independent of
the page and of the kind of work.

Torch's inference mode belongs to a thread, but Gradio moves a generator from thread to thread. So
each job that uses the models runs in its own thread.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sequoia import Pair, SequoiaError
from sequoia.errors import Stopped
from sequoia.this_machine.gpu_health import free_unused_gpu_memory
from sequoia.this_machine.memory import is_out_of_memory
from ui.serving.fair_queue import Cancelled, Work, wait_words
from ui.serving.following import Followers
from ui.serving.inbox import Inbox, Received
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.sessions import Busy
from ui.serving.wait_times import Demand, Wait, wait_field

# A job whose events nobody has asked for that long is dropped: its page has gone.
UNREAD_SECONDS = 30.0
_JUST_NOW = 2.0  # seconds between two batches that are read, at most
_log = logging.getLogger(__name__)

Event = TypeVar("Event")


@dataclass(frozen=True)
class Notice:
    """A message for the visitor, such as the position in the queue; None clears it. wait: while the
    visitor waits in the queue, what is ahead."""

    text: str | None
    wait: Wait | None = None


@dataclass(frozen=True)
class Ended:
    """A run or race has ended. end: the reason, which is a step's `finish`, "stopped", "time",
    "paused" (the requested steps are done) or "broken". meta: if plain decoding was timed, replaces
    the meta sent at the start."""

    end: str
    error: str | None = None
    notice: str | None = None
    meta: dict[str, Any] | None = None


class Job(ABC, Generic[Event]):
    """`start` begins the work in the background; `batches` yields its events until it has ended.

    name: what messages call the job. if_it_fails: a sentence they add after a failure;
    if_out_of_memory: the same if memory ran out.
    """

    name = "run"
    if_it_fails = ""
    if_out_of_memory = ""

    def __init__(self, model_host: ModelHost) -> None:
        self._model_host = model_host
        self._inbox = Inbox[Event]()
        self._turns = 0
        self._halt = threading.Event()
        self._busy = False
        self._ending = threading.Lock()  # between the end of the work and the last event
        self._released = False
        self._parting: str | None = None

    @abstractmethod
    def work(self, steps: int | None) -> Event:
        """The work itself, called in the thread; returns the last event. Raises Cancelled or
        Stopped once the job is `halted`."""

    @abstractmethod
    def demand(self) -> Demand:
        """What it asks of the models in its next turn."""

    def share(self) -> float:
        """The share of that work that is done, from 0 to 1; 0 if it is not known."""
        return 0.0

    @abstractmethod
    def notice(self, words: str) -> Event:
        """An event that says what the job is doing now."""

    def waiting(self, wait: Wait) -> Event:
        """An event that says what is ahead in the queue."""
        return self.notice(wait_words(wait))

    @abstractmethod
    def stopped(self, words: str) -> Event:
        """The last event of a job that was stopped."""

    @abstractmethod
    def failed(self, error: str) -> Event:
        """The last event of a job that failed."""

    def refused(self, problem: SequoiaError) -> str:
        """The message for a request that cannot be served."""
        return str(problem)

    def free_caches(self) -> None:
        """Free what the job keeps between steps."""

    @property
    def busy(self) -> bool:
        """Whether the thread is running."""
        return self._busy

    @property
    def in_line(self) -> bool:
        """Whether it keeps its visitor from having another job."""
        return self._busy

    @property
    def is_read(self) -> bool:
        """Whether somebody reads what it posts just now."""
        return self._inbox.is_read(_JUST_NOW)

    @property
    def holding(self) -> bool:
        """Whether the job is paused and still has the caches it needs to continue."""
        return False

    def start(self, steps: int | None = None) -> None:
        """Make `steps` more steps in the background, or all that remain. Raises Busy if the system
        lets the program have no further thread."""
        with self._ending:
            self._halt.clear()
            self._turns = 0
            self._inbox.reopen()
            self._busy = True
        try:
            threading.Thread(target=self._run, args=(steps,), name=self.name, daemon=True).start()
        except RuntimeError:
            self._busy = False
            _log.warning("no thread could be started for a %s", self.name)
            raise Busy(
                f"the server has no room for another {self.name} just now; try again in a minute"
            ) from None

    def halt(self) -> None:
        """Stop after the current step."""
        self._halt.set()

    def end(self, words: str) -> None:
        """Stop after the current step, because the program ends. The last event is `words`."""
        self._parting = words
        self.halt()

    def abandon(self) -> None:
        """Post the last event now, without waiting for the current step. Called after `end`."""
        if self._busy and self._parting is not None:
            self._inbox.put(self.stopped(self._parting), last=True)

    def halted(self) -> bool:
        """Whether it was asked to stop, or nobody reads what it posts."""
        if not self._inbox.is_read(UNREAD_SECONDS):
            self.halt()
        return self._halt.is_set()

    def release(self) -> None:
        """Free the caches, after the current step if one is running. The job cannot continue
        afterwards."""
        self._released = True
        if not self._busy:
            self.free_caches()
            free_unused_gpu_memory()

    def batches(self) -> Received[Event, list[Event]]:
        """The events since the last batch, at least one, until the thread has ended."""
        return Received(self._inbox, lambda events: events)

    def reports(self) -> Received[Event, Event]:
        """The newest event of each batch, for jobs whose every event reports the progress."""
        return Received(self._inbox, lambda events: events[-1])

    # -- in the thread -----------------------------------------------------------------------------

    def post(self, event: Event) -> None:
        """Add an event for `batches` to yield."""
        self._inbox.put(event)

    @contextmanager
    def turn(self, chat: bool = False) -> Iterator[Pair]:
        """The pair, while it is this job's turn. With `chat`, prompts become chat messages if the
        models have a template. Raises Cancelled if the job is halted while it waits."""
        if not self._model_host.settled:
            self.post(
                self.notice(f"waiting for the models to load; the {self.name} starts automatically")
            )
        with self._model_host.turn(self.halted, self._on_wait, self._next_turn()) as pair:
            yield pair.as_chat() if chat and pair.template else pair

    def _next_turn(self) -> Work:
        self._turns += 1
        return Work(self.demand(), self.share, self, returns=self._turns > 1)

    def _on_wait(self, wait: Wait) -> None:
        self.post(self.waiting(wait))

    def _run(self, steps: int | None) -> None:
        last = self.failed(self._unexpected())
        broken = True
        try:
            last = self.work(steps)
            broken = False
        except (Cancelled, Stopped) as problem:
            last = self.stopped(str(problem) or f"Stopped. {self.if_it_fails}".strip())
            broken = False
        except SequoiaError as problem:
            last = self.failed(self.refused(problem))
        except Exception as problem:
            if is_out_of_memory(problem):
                last = self.failed(f"Out of memory. {self.if_out_of_memory}")
            else:
                _log.exception("a %s failed", self.name)
                if lost := self._model_host.check_gpu():
                    last = self.failed(lost)
        finally:
            with self._ending:
                self._rest(broken, last)

    def _rest(self, broken: bool, last: Event) -> None:
        """The work has ended. broken: it cannot continue. `last`: the last event."""
        self._busy = False
        try:
            if broken or self._released:
                self.release()
        except Exception:
            _log.exception("the caches of a %s could not be freed", self.name)
        finally:  # whatever happens: the reader of `batches` waits for it
            self._inbox.put(self.stopped(self._parting) if self._parting else last, last=True)

    def _unexpected(self) -> str:
        return (
            f"The {self.name} stopped because of an unexpected error; see the server's log for "
            f"details. {self.if_it_fails}"
        ).strip()


class RunJob(Job[Any]):
    """A run or a race that is watched and recorded: its events are Notice, those of the run itself,
    and Ended. `messages` is read to its end once for every `start`; a second reader may continue
    where the first left off."""

    if_out_of_memory = "Choose fewer tokens or a smaller tree. Later runs are not affected."

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host)
        self._limits = limits
        self.is_shared = limits.shares
        self.recording: Any = None
        self.error: str | None = None
        self._notice: str | None = None
        self._wait: Wait | None = None
        self._can_follow = False
        self._followers = Followers()

    def messages(self) -> Received[Any, str]:
        """Messages for the browser until the thread has ended."""
        return Received(self._inbox, self._next_message)

    def _next_message(self, events: list[Any]) -> str:
        return self._followers.made(lambda: self._taken(events))

    def _taken(self, events: list[Any]) -> str:
        for event in events:
            self._take(event)
        return self._message(events)

    def follow(self) -> AsyncGenerator[str, None]:
        """The messages of the run for another visitor, from its first step on. It has begun."""
        return self._followers.follow(self._so_far, lambda: self.busy)

    @property
    def can_be_followed(self) -> bool:
        """Whether it is going, has begun, and its visitor lets others see it."""
        return self.busy and self.is_shared and self.recording is not None

    @abstractmethod
    def _so_far(self) -> str | None:
        """What is recorded so far, as one message of a run that goes on; None if it has just ended
        and its recording was dropped."""

    @property
    def _ahead(self) -> dict[str, Any]:
        """The fields of a message that say what is ahead, and that a run can be followed
        meanwhile."""
        can_follow = {"follow": True} if self._can_follow else {}
        return {**wait_field(self._wait), **can_follow}

    def _look_for_a_run_to_follow(self) -> str:
        """What to do meanwhile, in words, if a run of the same kind can be followed."""
        current = self._model_host.queue.current
        job = current.job if current else None
        self._can_follow = isinstance(job, type(self)) and job is not self and job.can_be_followed
        return "; you can follow the current run meanwhile" if self._can_follow else ""

    def refused(self, problem: SequoiaError) -> str:
        meanwhile = self._look_for_a_run_to_follow() if isinstance(problem, Busy) else ""
        return super().refused(problem) + meanwhile

    def _take(self, event: Any) -> None:
        """Record what the next message depends on."""
        self._wait = None
        if isinstance(event, Notice):
            self._notice = event.text
            self._wait = event.wait
        elif isinstance(event, Ended):
            self._notice = event.notice
            self.error = event.error
        else:
            self._can_follow = False

    @abstractmethod
    def _message(self, events: Sequence[Any]) -> str:
        """The events of one batch as a message."""

    def forget(self) -> None:
        """Drop the recording; from then on only the RunStore keeps it."""
        self.recording = None

    def notice(self, words: str | None) -> Notice:
        return Notice(words)

    def waiting(self, wait: Wait) -> Notice:
        return Notice(wait_words(wait) + self._look_for_a_run_to_follow(), wait)

    def stopped(self, words: str) -> Ended:
        return Ended("stopped", notice=words)

    def failed(self, error: str) -> Ended:
        return Ended("broken", error)

    def overdue(self) -> str:
        """The message for a run that reached the time limit."""
        return f"Stopped at the time limit of {self._limits.seconds:g} s per {self.name}."


@dataclass(frozen=True)
class Report:
    """Progress of a measurement. share: of the work done, from 0 to 1. over: whether it has ended.
    error: the reason, if it failed. result: what was measured."""

    share: float
    words: str = ""
    over: bool = False
    error: str | None = None
    result: Any = None


class MeasurementJob(Job[Report]):
    """Measures the loaded pair once."""

    _share = 0.0

    @abstractmethod
    def measure(self, pair: Pair) -> Any:
        """Measure `pair` during this job's turn, and call `report` with the progress."""

    def work(self, steps: int | None) -> Report:  # noqa: ARG002  a measurement has no steps
        self.post(self.notice("waiting for the models"))
        with self.turn() as pair:
            return Report(1, over=True, result=self.measure(pair))

    def report(self, share: float, words: str) -> None:
        """Post the progress. Raises Cancelled if the job was asked to stop."""
        self.raise_if_halted()
        self._share = share
        self.post(Report(share, words))

    def share(self) -> float:
        return self._share

    def raise_if_halted(self) -> None:
        """Raises Cancelled if the job was asked to stop."""
        if self.halted():
            raise Cancelled

    def notice(self, words: str) -> Report:
        return Report(0, words)

    def stopped(self, words: str) -> Report:
        return Report(0, words, over=True)

    def failed(self, error: str) -> Report:
        return Report(0, over=True, error=error)
