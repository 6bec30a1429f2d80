"""A thorough measurement of this machine, started by a visitor's button or by --measure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from sequoia import HardwareProfile, Pair, measure_profile
from sequoia.algorithm.progress import Progress
from sequoia.measuring.hardware import PASSES
from ui.serving.job import MeasurementJob
from ui.serving.model_host import ModelHost
from ui.serving.wait_times import Demand

SECONDS = 28.0
ROUNDS = 90
# Beyond these, a measurement is doubted. Both are several times what repeated measurements of an
# idle machine differ by.
_SLOWER = 1.25  # times as long
_UNSTEADY = 0.2
_DOUBTED = "the last doubted profile"


@dataclass(frozen=True)
class Measurement:
    """Why the profile is not used: a one-token pass took `slower` times as long as before, or the
    times of one pass differ by the share `unsteady`. If both are None, it is now the profile of
    this machine."""

    profile: HardwareProfile
    slower: float | None = None
    unsteady: float | None = None

    @property
    def is_used(self) -> bool:
        return self.slower is None and self.unsteady is None


def measure_machine(
    pair: Pair, seconds: float = SECONDS, progress: Progress = lambda _: None
) -> Measurement:
    """Time the passes of `pair` for at most about `seconds`. The profile is stored with the pair,
    and from then on it is the profile of this machine. But if other programs seem to have slowed
    the measurement down, the earlier profile stays, unless the last measurement found the same."""
    before = pair.measured.profile
    profile = measure_profile(pair, seconds=seconds, rounds=ROUNDS, progress=progress)
    last = pair.measured.other.pop(_DOUBTED, None)
    is_repeated = last is not None and 1 / _SLOWER < _ratio(profile, last) < _SLOWER
    if before is None or is_repeated:
        measurement = Measurement(profile)
    else:
        measurement = compared(before, profile)
    if measurement.is_used:
        pair.measured.profile = profile
    else:
        pair.measured.other[_DOUBTED] = profile
    return measurement


def compared(before: HardwareProfile, after: HardwareProfile) -> Measurement:
    """The measurement `after`, which is not used if it is clearly worse than the one `before`."""
    slower = _ratio(after, before)
    if slower > _SLOWER:
        return Measurement(after, slower=slower)
    spread = _spread(after)
    if spread > max(_UNSTEADY, 2 * _spread(before)):
        return Measurement(after, unsteady=spread)
    return Measurement(after)


def _ratio(profile: HardwareProfile, other: HardwareProfile) -> float:
    return profile.verify_seconds(1) / other.verify_seconds(1)


def _spread(profile: HardwareProfile) -> float:
    """The median of the spreads of target passes, as a fraction of their times."""
    return statistics.median(spread / seconds for _, seconds, spread in profile.target_seconds)


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
