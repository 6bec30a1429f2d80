"""A job that makes a measurement and reports its progress. Independent of the page."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from sequoia import Pair
from ui.serving.fair_queue import Cancelled
from ui.serving.job import Job


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
