"""A job that measures the acceptance rates of the loaded pair. Each job has its own thread."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sequoia import Pair, SamplingParams, SequoiaError
from sequoia.measuring.counted_acceptance import CountedAcceptance, count_acceptance
from ui.serving.fair_queue import Demand
from ui.serving.job import MeasurementJob
from ui.serving.model_host import ModelHost

RANKS = 16  # at most this many children of a node are counted
REPORT_SECONDS = 0.1  # least time between two reports from `_progress`


class AcceptanceJob(MeasurementJob):
    """Measures acceptance while decoding `prompts`. Fails with OutOfTime if that takes
    longer than about `seconds`."""

    name = "measurement"
    if_it_fails = if_out_of_memory = "The previous acceptance vector is kept."

    def __init__(
        self,
        model_host: ModelHost,
        prompts: Sequence[str],
        params: SamplingParams,
        seconds: float,
    ) -> None:
        super().__init__(model_host)
        self._prompts = tuple(prompts)
        self._params = params
        self._seconds = seconds

    def demand(self) -> Demand:
        tokens = len(self._prompts) * self._params.max_new_tokens
        return Demand("acceptance", tokens, self._seconds)

    def measure(self, pair: Pair) -> CountedAcceptance:
        self._end = time.monotonic() + self._seconds
        self._last_report = 0.0
        self.report(0, f"measuring on {_prompts(len(self._prompts))}")
        ranks = min(RANKS, pair.target.vocab)
        return count_acceptance(
            pair, self._prompts, self._params, ranks=ranks, progress=self._progress
        )

    def _progress(self, share: float) -> None:
        self.raise_if_halted()
        now = time.monotonic()
        prompts = len(self._prompts)
        if share < 1 and now > self._end:
            raise OutOfTime(
                f"the measurement reached its time limit of {self._seconds:g} s; choose fewer "
                "prompts or a shorter text"
            )
        if now - self._last_report >= REPORT_SECONDS:
            self._last_report = now
            self.report(share, f"{int(share * prompts + 1e-9)} of {_prompts(prompts)} done")


def _prompts(count: int) -> str:
    return f"{count} prompt{'' if count == 1 else 's'}"


class OutOfTime(SequoiaError):
    """The measurement reached its time limit."""
