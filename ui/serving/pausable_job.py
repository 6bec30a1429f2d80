"""The base class of runs and races that can be paused and continued. Independent of the page."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sequoia import Pair
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.run_job import Ended, Notice, PairChanged, RunJob
from ui.serving.wait_times import Demand

RESUMABLE = ("paused", "stopped")  # values of `Ended.end`
Decoding = TypeVar("Decoding")


@dataclass(frozen=True)
class Continued:
    """A paused run goes on. Posted before it waits for its turn."""


class PausableJob(RunJob, Generic[Decoding]):
    """A run that decodes in rounds. `start` begins it, or continues it if it was paused or stopped.
    A turn is the work of one `start`.

    request: what the visitor asked for; it has `chat`. run_store: for the recording.
    """

    def __init__(self, request: Any, model_host: ModelHost, limits: Limits, run_store: Any) -> None:
        super().__init__(model_host, limits)
        self.request = request
        self._run_store = run_store
        self._pair: Pair | None = None
        self._decoding: Decoding | None = None  # with its caches
        self._wanted_rounds: int | None = None  # in this turn; None: no limit
        self._emitted = 0  # tokens so far
        self._emitted_before = 0  # tokens before this turn
        self._seconds = 0.0  # of all rounds on this machine, whatever the run's clock
        self._turn_ends = 0.0  # time limit of this turn, on the monotonic clock

    @property
    def holding(self) -> bool:
        return self._decoding is not None and not self._released

    def free_caches(self) -> None:
        self._pair = self._decoding = None

    def demand(self) -> Demand:
        if self._wanted_rounds is not None:
            return Demand(f"{self.name} step", self._wanted_rounds, self._limits.seconds)
        return Demand(self._kind, self._turn_tokens, self._limits.seconds)

    def share(self) -> float:
        done = self._emitted - self._emitted_before
        return done / self._turn_tokens if self._turn_tokens else 0.0

    @property
    def _turn_tokens(self) -> int:
        """The most tokens that this turn can add."""
        return self._most_tokens - self._emitted_before

    @property
    @abstractmethod
    def _most_tokens(self) -> int:
        """The most tokens that the whole run can emit."""

    @property
    @abstractmethod
    def _kind(self) -> str:
        """The kind of a turn to the run's end, as in `Demand`."""

    # -- in the thread -----------------------------------------------------------------------------

    def work(self, steps: int | None) -> Ended:
        self._wanted_rounds = steps
        self._emitted_before = self._emitted
        if self._decoding is not None:
            self.post(Continued())
        with self.turn(self.request.chat) as pair:
            if self._released or (self._pair and self._pair.target is not pair.target):
                raise PairChanged(
                    f"models were loaded after this {self.name} paused, so it cannot continue; "
                    "press Run for a new one"
                )
            if self._decoding is None:
                self._decoding = self._begin(pair)
                self._pair = pair
            else:
                self.post(Notice(None))  # clears "Stopped. ..." and the place in the queue
            late = self._decode(self._decoding)
            finish = self._finish(self._decoding)
            end = finish or ("time" if late else "stopped" if self.halted() else "paused")
            stopped = "Stopped. Resume or Step to continue." if end == "stopped" else None
            last = self._conclude(pair, end, late or stopped)
        self._released |= end not in RESUMABLE
        return last

    def _decode(self, decoding: Decoding) -> str | None:
        """Decode until the wanted rounds are made or the run ends. Returns early if the run is
        stopped or reaches the time limit. Returns the message about the time limit if it kept the
        run from its end."""
        began = time.monotonic()
        self._turn_ends = began + self._limits.seconds
        rounds = 0
        while not (rounds == self._wanted_rounds or self._finish(decoding) or self.halted()):
            rounds += self._step(decoding)
            if self._is_late:
                break
        self._seconds += time.monotonic() - began
        return self.overdue() if self._is_late and not self._finish(decoding) else None

    @property
    def _is_late(self) -> bool:
        return time.monotonic() > self._turn_ends

    @abstractmethod
    def _begin(self, pair: Pair) -> Decoding:
        """Begin the run, up to its first step. Posts an event from which the recording is made."""

    @abstractmethod
    def _step(self, decoding: Decoding) -> bool:
        """Make one step and post it. Returns whether it completes a round."""

    @abstractmethod
    def _finish(self, decoding: Decoding) -> str | None:
        """Why the run has ended by itself, as in `Ended`; None if it can go on."""

    @abstractmethod
    def _conclude(self, pair: Pair, end: str, notice: str | None) -> Ended:
        """Do what follows the steps of a turn. Returns the last event, with `end` and `notice`."""
