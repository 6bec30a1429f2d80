"""One measurement of this machine, made in its own thread. Independent of the page.

A measurement that is stopped or fails leaves the previous profile unchanged.
"""

from __future__ import annotations

from sequoia import HardwareProfile, Pair, measure_profile
from sequoia.measuring.hardware import PASSES
from ui.serving.job import MeasurementJob
from ui.serving.model_host import ModelHost

SECONDS = 28.0
ROUNDS = 90


class ProfileJob(MeasurementJob):
    """Measures the profile of this machine."""

    name = "measurement"
    if_it_fails = if_out_of_memory = "The previous profile is kept."

    def __init__(self, model_host: ModelHost, seconds: float = SECONDS) -> None:
        super().__init__(model_host)
        self._seconds = seconds

    def measure(self, pair: Pair) -> HardwareProfile:
        pair.measured.profile = measure_profile(
            pair, seconds=self._seconds, rounds=ROUNDS, progress=self._progress
        )
        return pair.measured.profile

    def _progress(self, share: float) -> None:
        self.report(
            share,
            "timing passes of both models in turns"
            if share < PASSES
            else "timing the engine's own overhead",
        )
