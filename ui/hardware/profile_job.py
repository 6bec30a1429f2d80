"""One measurement of this machine in a thread of its own: it waits for its turn and can be
stopped. Knows no page.

A measurement that is stopped or fails leaves the profile that was there as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from sequoia import measure_profile
from sequoia.measuring.hardware import PASSES
from ui.serving.fair_queue import Cancelled
from ui.serving.job import Job
from ui.serving.model_host import ModelHost

SECONDS = 28.0
ROUNDS = 90


@dataclass(frozen=True)
class Report:
    """How far it is: share done, 0 to 1, and words. `over`: it has ended; `error`:
    why, where it failed."""

    share: float
    words: str
    over: bool = False
    error: str | None = None


class ProfileJob(Job[Report]):
    """Measures once."""

    name = "measurement"
    if_it_fails = if_out_of_memory = "the profile that was there is kept"

    def __init__(self, model_host: ModelHost, seconds: float = SECONDS) -> None:
        super().__init__(model_host)
        self._seconds = seconds
        self.done = False  # a new profile was measured

    def work(self, steps: int | None) -> Report:  # noqa: ARG002  it is done once
        self.post(self.notice("waiting for the models"))
        with self.turn() as pair:
            profile = measure_profile(
                pair, seconds=self._seconds, rounds=ROUNDS, progress=self._progress
            )
            pair.measured.profile = profile
        self.done = True
        return Report(1, "", True)

    def notice(self, words: str) -> Report:
        return Report(0, words)

    def stopped(self, words: str) -> Report:
        return Report(0, words, True)

    def failed(self, error: str) -> Report:
        return Report(0, "", True, error)

    def _progress(self, share: float) -> None:
        if self.halted():
            raise Cancelled
        words = (
            "timing passes of both models in turns"
            if share < PASSES
            else "timing the engine's own overhead"
        )
        self.post(Report(share, words))
