"""Runs one experiment in its own thread. An experiment consists of units, its small pieces of work.
Finished units are saved in a folder, so that a later run can continue with the remaining units."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from sequoia import Pair
from sequoia.experiments.experiment import Experiment
from sequoia.experiments.result import ExperimentResult
from sequoia.experiments.runner import RunProgress, run_experiment, units_file
from ui.serving.fair_queue import Demand, duration_words
from ui.serving.job import MeasurementJob, Report
from ui.serving.model_host import ModelHost

SIZE = "small"  # the size of every experiment that is run in the page
SECONDS_PER_RESULT = 0.7  # minimum time between two results sent while units are run
# After this time, a job makes way for a waiting job, and queues again for its remaining units.
TURN_SECONDS = 20.0
ALL_DONE = "All parts were already done. This is their result."


@dataclass(frozen=True)
class Found:
    """The result of the units done so far, and a message about it for the visitor."""

    result: ExperimentResult
    message: str = ""


class ExperimentJob(MeasurementJob):
    """Runs the experiment's units for at most about `seconds`, not counting the time in the queue.

    folder: where finished units are saved. again: first delete the units saved there earlier.
    """

    name = "experiment"
    if_it_fails = "Finished parts are kept."
    if_out_of_memory = "Choose a smaller pair. Finished parts are kept."

    def __init__(
        self,
        model_host: ModelHost,
        experiment: Experiment,
        folder: Path,
        seconds: float,
        *,
        again: bool = False,
    ) -> None:
        super().__init__(model_host)
        self.experiment = experiment
        self._folder = folder
        self._again = again
        self._seconds = seconds  # remaining computing time
        self._limit_words = f"Stopped at the limit of {seconds:g} s of computing"
        self._end = 0.0
        self._turn_end = 0.0
        self._posted_at = 0.0
        self._message = ""
        self._last: Report | None = None

    def demand(self) -> Demand:
        return Demand(f"experiment {self.experiment.name}", limit=self._seconds)

    def work(self, steps: int | None) -> Report:  # noqa: ARG002  an experiment has no steps
        """Takes turns in the queue until all units are done, the job is halted, or the computing
        time is used up."""
        self.post(self.notice("waiting for the models"))
        while True:
            with self.turn() as pair:
                start = time.monotonic()
                found = self.measure(pair)
                self._seconds -= time.monotonic() - start
            if found.result.is_complete:
                return Report(1, over=True, result=found)
            if self.halted():
                return Report(self._share, "Stopped", over=True, result=found)
            if self._seconds <= 0:
                return Report(self._share, self._limit_words, over=True, result=found)

    def measure(self, pair: Pair) -> Found:
        """Run units until none remains or the turn ends. Returns the result of all finished units.
        Raises SequoiaError if a unit fails."""
        now = time.monotonic()
        self._end = now + self._seconds
        self._turn_end = now + TURN_SECONDS
        settings = self.experiment.sizes[SIZE]
        self._forget_earlier_units()
        result = run_experiment(
            self.experiment, pair, settings, self._folder, self._on_progress, self._ends_turn
        )
        return Found(result, self._message)

    def _forget_earlier_units(self) -> None:
        if self._again:
            units_file(self.experiment, self._folder).unlink(missing_ok=True)
        self._again = False  # later turns keep the units of this turn

    def _ends_turn(self) -> bool:
        now = time.monotonic()
        gives_way = now > self._turn_end and self._model_host.queue.awaited
        return self.halted() or now > self._end or gives_way

    def _on_progress(self, progress: RunProgress) -> None:
        if progress.seconds_left is None:
            self._message = _first_message(progress) or self._message
        self._share = progress.done / max(progress.total, 1)
        now = time.monotonic()
        if now - self._posted_at < SECONDS_PER_RESULT:
            return
        self._posted_at = now
        found = Found(progress.result(), self._message)
        self._last = Report(self._share, progress_words(progress), result=found)
        self.post(self._last)

    def notice(self, words: str) -> Report:
        """The last report with a result, but with its words replaced by `words`. If no report had a
        result yet, a report with only `words`."""
        if self._last is None:
            return super().notice(words)
        return replace(self._last, words=words)

    def stopped(self, words: str) -> Report:
        """The same as `notice`, but as the final report."""
        if self._last is None:
            return super().stopped(words)
        return replace(self._last, words=words, over=True)


def _first_message(progress: RunProgress) -> str:
    """What a run says before its first unit about the units that were saved earlier."""
    if progress.starts_over:
        return "The saved parts are of another pair or version and cannot be reused. Starting over."
    return ALL_DONE if progress.done == progress.total else ""


def progress_words(progress: RunProgress) -> str:
    """For example "12 of 40 parts done, about 30 seconds left"."""
    words = f"{progress.done} of {progress.total} parts done"
    left = progress.seconds_left
    return words if left is None else f"{words}, {duration_words(left)} left"
