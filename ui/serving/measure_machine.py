"""A thorough measurement of this machine, started by a visitor's button or by --measure."""

from __future__ import annotations

from sequoia import HardwareProfile, Pair, measure_profile
from sequoia.algorithm.progress import Progress

SECONDS = 28.0
ROUNDS = 90


def measure_machine(
    pair: Pair, seconds: float = SECONDS, progress: Progress = lambda _: None
) -> HardwareProfile:
    """Time the passes of `pair` for at most about `seconds`. The profile is stored with the pair,
    and from then on it is the profile of this machine."""
    pair.measured.profile = measure_profile(pair, seconds=seconds, rounds=ROUNDS, progress=progress)
    return pair.measured.profile
