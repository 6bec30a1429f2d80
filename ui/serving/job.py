"""A job in its own thread. It waits for its turn to use the models, posts events, and can be
stopped. Runs are RunJobs, measurements are MeasurementJobs. Independent of the page.

Torch's inference mode is set per thread, but Gradio moves a generator from thread to thread. So
each job that uses the models needs a thread of its own.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sequoia import Pair, SequoiaError
from sequoia.errors import Stopped
from sequoia.this_machine.gpu_health import free_unused_gpu_memory
from sequoia.this_machine.memory import is_out_of_memory
from ui.serving.fair_queue import Busy, Cancelled, Demand, Wait, Work
from ui.serving.inbox import Inbox, Received
from ui.serving.model_host import ModelHost

# A job is stopped if nobody has read its events for this long: its page must have been closed.
UNREAD_SECONDS = 30.0
_JUST_NOW = 2.0  # seconds; a page that reads a job's events does so at least this often
_log = logging.getLogger(__name__)

Event = TypeVar("Event")


class Job(ABC, Generic[Event]):
    """`start` begins the work in the background; `reports` yields the job's events until the last.

    name: the job's name in messages. if_it_fails: a sentence added to the default messages for an
    unexpected error and for a stop. if_out_of_memory: a sentence added to the message "Out of
    memory."
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
        # held while a job ends, so that `start` does not reopen the inbox before the last event
        self._ending = threading.Lock()
        self._released = False
        self.address = ""  # of the visitor, if the number of jobs from each address is limited
        self.skips = False  # whether it goes first in the queue
        self.yields = False  # whether it goes last

    @abstractmethod
    def work(self, steps: int | None) -> Event:
        """Do the work, in the job's thread. Returns the last event. Once `halted` returns True,
        returns soon or raises Cancelled or Stopped. steps: as in `start`."""

    @abstractmethod
    def demand(self) -> Demand:
        """The size of the job's next turn."""

    def share(self) -> float:
        """The fraction of the turn's work that is done, from 0 to 1; 0 if it is not known."""
        return 0.0

    @abstractmethod
    def notice(self, words: str) -> Event:
        """An event that says what the job is doing now."""

    def waiting(self, wait: Wait) -> Event:
        """An event that says how many jobs are ahead in the queue."""
        return self.notice(wait.words())

    @abstractmethod
    def stopped(self, words: str) -> Event:
        """The last event of a job that was stopped."""

    @abstractmethod
    def failed(self, error: str) -> Event:
        """The last event of a job that failed."""

    def refused(self, problem: SequoiaError) -> str:
        """The error message for a `problem` that `work` raised."""
        return str(problem)

    def free_caches(self) -> None:
        """Free the caches that the job keeps between steps."""

    @property
    def busy(self) -> bool:
        """Whether the thread is running."""
        return self._busy

    @property
    def in_line(self) -> bool:
        """Whether this job keeps its visitor from starting another."""
        return self._busy

    @property
    def is_replaceable(self) -> bool:
        """Whether the visitor's next job in the same view may end this one."""
        return False

    @property
    def is_read(self) -> bool:
        """Whether somebody is reading the job's events now."""
        return self._inbox.is_read(_JUST_NOW)

    @property
    def has_told(self) -> bool:
        """Whether somebody has read the last event."""
        return self._inbox.is_finished

    @property
    def holding(self) -> bool:
        """Whether the job has begun, has not ended, and still has the caches it needs to
        continue."""
        return False

    def start(self, steps: int | None = None) -> None:
        """Do `steps` more steps in the background, or all that remain if None. Raises Busy if the
        system cannot start another thread."""
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
        """Stop because the program ends. The last event has `words`, and comes at once."""
        self.halt()
        if self._busy:
            self._inbox.put(self.stopped(words), last=True)

    def halted(self) -> bool:
        """Whether the job was asked to stop, or nobody has read its events for UNREAD_SECONDS."""
        if not self._inbox.is_read(UNREAD_SECONDS):
            self.halt()
        return self._halt.is_set()

    def release(self, now: bool = False) -> None:
        """Free the caches. A running job frees them as soon as its work has ended. now: at once,
        even if the job waits for its turn; the caller must have the turn, so that the job is not
        using them. Afterwards the job cannot continue."""
        self._released = True
        if now or not self._busy:
            self.free_caches()
            free_unused_gpu_memory()

    def reports(self) -> Received[Event, Event]:
        """The newest event of each batch, for jobs whose events all report the progress. Ends with
        the job's last event."""
        return Received(self._inbox, lambda events: events[-1])

    # -- in the thread -----------------------------------------------------------------------------

    def post(self, event: Event) -> None:
        """Add an event for the job's reader."""
        self._inbox.put(event)

    @contextmanager
    def turn(self, chat: bool = False) -> Iterator[Pair]:
        """Wait for this job's turn and yield the pair of models. chat: whether prompts become chat
        messages, if the models have a chat template. Raises NotLoaded, Busy (the queue is full) or
        Cancelled (the job was halted while it waited)."""
        if not self._model_host.settled:
            self.post(
                self.notice(f"waiting for the models to load; the {self.name} starts automatically")
            )
        with self._model_host.turn(self.halted, self._on_wait, self._next_turn()) as pair:
            yield pair.as_chat() if chat and pair.template else pair

    def _next_turn(self) -> Work:
        self._turns += 1
        return Work(self.demand(), self.share, self, self._turns > 1, self.skips, self.yields)

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
                last = self.failed(f"Out of memory. {self.if_out_of_memory}".strip())
            else:
                _log.exception("a %s failed", self.name)
                if lost := self._model_host.check_gpu():
                    last = self.failed(lost)
        finally:
            with self._ending:
                self._rest(broken, last)

    def _rest(self, broken: bool, last: Event) -> None:
        """Clean up after the work has ended. broken: whether the job cannot continue."""
        self._busy = False
        try:
            if broken or self._released:
                self.release()
        except Exception:
            _log.exception("the caches of a %s could not be freed", self.name)
        finally:  # in any case, as the job's reader waits for the last event
            self._inbox.put(last, last=True)

    def _unexpected(self) -> str:
        return (
            f"The {self.name} stopped because of an unexpected error; see the server's log for "
            f"details. {self.if_it_fails}"
        ).strip()


# -- measurements ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """The progress of a measurement. share: the fraction of the work that is done, from 0 to 1. The
    last report may have 0 after a failure or a stop, and 1 after a time limit. over: whether the
    measurement has ended. error: the reason, if it failed. result: the measured values."""

    share: float
    words: str = ""
    over: bool = False
    error: str | None = None
    result: Any = None


class MeasurementJob(Job[Report]):
    """Makes one measurement, usually of the loaded pair."""

    _share = 0.0

    @abstractmethod
    def measure(self, pair: Pair) -> Any:
        """Make the measurement during this job's turn, and call `report` with the progress. Returns
        the measured values. pair: the loaded pair."""

    def work(self, steps: int | None) -> Report:  # noqa: ARG002  a measurement has no steps
        self.post(self.notice("waiting for the models"))
        with self.turn() as pair:
            return Report(1, over=True, result=self.measure(pair))

    def report(self, share: float, words: str) -> None:
        """Post the progress. Raises Cancelled if `halted` returns True."""
        self.raise_if_halted()
        self._share = share
        self.post(Report(share, words))

    def share(self) -> float:
        return self._share

    def raise_if_halted(self) -> None:
        if self.halted():
            raise Cancelled

    def notice(self, words: str) -> Report:
        return Report(0, words)

    def stopped(self, words: str) -> Report:
        return Report(0, words, over=True)

    def failed(self, error: str) -> Report:
        return Report(0, over=True, error=error)
