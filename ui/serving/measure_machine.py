"""A careful measurement of this machine: by a visitor's button, or when the program starts."""

from __future__ import annotations

from sequoia import HardwareProfile, Pair, measure_profile
from sequoia.algorithm.progress import Progress

SECONDS = 28.0
ROUNDS = 90


def measure_machine(
    pair: Pair, seconds: float = SECONDS, progress: Progress = lambda _: None
) -> HardwareProfile:
    """Time `pair` for about `seconds`, and keep the profile with it: from then on it is that of
    this machine."""
    pair.measured.profile = measure_profile(pair, seconds=seconds, rounds=ROUNDS, progress=progress)
    return pair.measured.profile
