"""A thorough measurement of this machine, started by a visitor's button or by --measure."""

from __future__ import annotations

from sequoia import HardwareProfile, Pair, measure_profile
from sequoia.algorithm.progress import Progress
from sequoia.measuring.hardware import PASSES
from ui.serving.fair_queue import Demand
from ui.serving.job import MeasurementJob
from ui.serving.model_host import ModelHost

SECONDS = 28.0
ROUNDS = 90


def measure_machine(
    pair: Pair, seconds: float = SECONDS, progress: Progress = lambda _: None
) -> HardwareProfile:
    """Time the passes of `pair` for at most about `seconds`. The profile is stored with the pair,
    and from then on it is the profile of this machine."""
    pair.measured.profile = measure_profile(pair, seconds=seconds, rounds=ROUNDS, progress=progress)
    return pair.measured.profile


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

    def measure(self, pair: Pair) -> HardwareProfile:
        return measure_machine(pair, self._seconds, self._progress)

    def _progress(self, share: float) -> None:
        self.report(
            share,
            "timing passes of target and draft in turn"
            if share < PASSES
            else "timing the engine's own overhead",
        )
