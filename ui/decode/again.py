"""Runs a finished run of the Decode view again, each time followed by plain decoding, so that its
verdict rests on more than one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sequoia import Pair
from sequoia.diagnosis.compare_runs import LaneRun
from sequoia.errors import BadTrace
from sequoia.saved_files.pooled_runs import MOST_RUNS
from ui.decode import messages
from ui.decode.clocks import retimed
from ui.decode.recordings import Recording
from ui.decode.request import DecodeRequest
from ui.decode.run import MORE_RUNS, decoder_of, plain_run
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost, made_with
from ui.serving.run_job import Ended, Notice, PairChanged, RunJob
from ui.serving.wait_times import Demand
from ui.shared.speedup_meta import Timed, compared_with_plain, step_of


@dataclass(frozen=True)
class RanAgain:
    """A further run and its plain run are complete."""

    timed: Timed


class AgainJob(RunJob):
    """Makes MORE_RUNS further runs. At temperatures above 0 each has a new seed. Raises BadTrace if
    the run was not compared with plain decoding."""

    if_it_fails = "The runs so far are kept."
    recording: Recording | None

    def __init__(self, recording: Recording, model_host: ModelHost, limits: Limits) -> None:
        super().__init__(model_host, limits)
        if recording.request is None or not recording.timed:
            raise BadTrace("this run was not compared with plain decoding; press Run for a new one")
        self.recording = self._recording = recording
        self._request = recording.request
        self._made = 0

    def demand(self) -> Demand:
        tokens = self._request.params.max_new_tokens
        return Demand("run again", MORE_RUNS * tokens, self._limits.seconds)

    def share(self) -> float:
        return self._made / MORE_RUNS

    def _take(self, event: Any) -> None:
        super()._take(event)
        if isinstance(event, RanAgain):
            recording = self._recording
            recording.timed = (*recording.timed, event.timed)
            compared = compared_with_plain(recording.timed, recording.meta["label"])
            recording.meta = {**recording.meta, **compared}
            if len(recording.timed) + MORE_RUNS > MOST_RUNS:
                recording.meta.pop("again", None)

    def _message(self, events: Sequence[Any]) -> str:
        recording = self._recording
        goes_on = not isinstance(events[-1], Ended)
        return self.said(run=recording.name, meta=recording.meta, stored=True, again=goes_on)

    def _so_far(self) -> str | None:
        return messages.so_far(self._recording.run(), self._recording.name)

    # -- in the thread -----------------------------------------------------------------------------

    def work(self, steps: int | None) -> Ended:  # noqa: ARG002  further runs are not stepped
        first = len(self._recording.timed)
        with self.turn(self._request.chat) as pair:
            if not made_with(self._recording.meta, pair):
                raise PairChanged("other models are loaded now; press Run for a new run")
            for number in range(first, first + MORE_RUNS):
                self.post(Notice(f"Run {self._made + 1} of {MORE_RUNS} more"))
                timed = self._one_run(pair, number)
                if timed is None:
                    return Ended("stopped", notice=f"Stopped. {self.if_it_fails}")
                self._made += 1
                self.post(RanAgain(timed))
        return Ended("length")

    def _one_run(self, pair: Pair, number: int) -> Timed | None:
        """The run and plain decoding once more; None if they were stopped. number: of the run,
        added to its seed."""
        asked = self._seeded(number)
        decoder = decoder_of(pair, asked)
        decoder.prefill()
        steps = []
        tokens: list[int] = []
        while decoder.finish is None:
            if self.halted():
                return None
            trace = retimed(decoder.step(), asked.simulated_clock)
            steps.append(step_of(trace))
            tokens += trace.emitted
        plain = plain_run(pair, asked, self.halted)
        if not plain.steps:
            return None
        return LaneRun("", number, tuple(steps), tuple(tokens)), plain.timed(number)

    def _seeded(self, number: int) -> DecodeRequest:
        params = self._request.params
        return replace(self._request, params=replace(params, seed=params.seed + number))


def job_again(recording: Any, model_host: ModelHost, limits: Limits) -> AgainJob:
    """The job that runs `recording` again. Raises SequoiaError if it cannot be."""
    if not isinstance(recording, Recording):
        raise BadTrace("this run was not made here or is no longer stored; press Run for a new one")
    return AgainJob(recording, model_host, limits)
