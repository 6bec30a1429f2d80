"""One measurement of this machine in a thread of its own: it waits for its turn and can be
stopped. Knows no page.

A measurement that is stopped or fails leaves the profile that was there as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from sequoia import measure_profile
from sequoia.measuring.hardware import PASSES
from ui.serving.fair_queue import Cancelled, position_words
from ui.serving.model_host import ModelHost
from ui.serving.task import Task

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


class ProfileJob(Task[Report]):
    """Measures once."""

    what = "measurement"
    kept = "the profile that was there is kept"

    def __init__(self, model_host: ModelHost, seconds: float = SECONDS) -> None:
        super().__init__()
        self._model_host = model_host
        self._seconds = seconds
        self.done = False  # a new profile was measured

    def do(self) -> Report:
        self.events.put(Report(0, "waiting for the models"))
        with self._model_host.turn(self.halted, self._on_position) as pair:
            profile = measure_profile(
                pair, seconds=self._seconds, rounds=ROUNDS, progress=self._progress
            )
            pair.measured.profile = profile
        self.done = True
        return Report(1, "", True)

    def ended(self, words: str = "", error: str | None = None) -> Report:
        return Report(0, words, True, error)

    def _progress(self, share: float) -> None:
        if self.halted():
            raise Cancelled
        words = (
            "timing passes of both models in turns"
            if share < PASSES
            else "timing the engine's own overhead"
        )
        self.events.put(Report(share, words))

    def _on_position(self, before: int) -> None:
        self.events.put(Report(0, position_words(before)))
