"""One measurement of this machine, in its own thread."""

from __future__ import annotations

from sequoia import Pair
from sequoia.measuring.hardware import PASSES
from ui.serving.measure_machine import SECONDS, Measurement, measure_machine
from ui.serving.measurement_job import MeasurementJob
from ui.serving.model_host import ModelHost
from ui.serving.wait_times import Demand


class ProfileJob(MeasurementJob):
    """Measures the profile of this machine. If the measurement fails or is stopped, the previous
    profile is kept."""

    name = "measurement"
    if_it_fails = if_out_of_memory = "The previous profile is kept."

    def __init__(self, model_host: ModelHost, seconds: float = SECONDS) -> None:
        super().__init__(model_host)
        self._seconds = seconds

    def demand(self) -> Demand:
        return Demand("profile", limit=1.5 * self._seconds)

    def measure(self, pair: Pair) -> Measurement:
        return measure_machine(pair, self._seconds, self._progress)

    def _progress(self, share: float) -> None:
        self.report(
            share,
            "timing passes of target and draft in turn"
            if share < PASSES
            else "timing the engine's own overhead",
        )
