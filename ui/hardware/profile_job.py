"""A thorough measurement of this machine, started by a visitor's button or by --measure."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from sequoia import Acceptance, HardwareProfile, Pair, best_plan, measure_profile
from sequoia.algorithm.progress import Progress
from sequoia.measuring.defaults import SLACK
from sequoia.measuring.hardware import PASSES
from sequoia.planning.plan_for_machine import predict
from ui.serving.job import MeasurementJob
from ui.serving.model_host import ModelHost
from ui.serving.wait_times import Demand

SECONDS = 28.0
ROUNDS = 90
# Beyond these, a measurement is doubted. Both are several times what repeated measurements of an
# idle machine differ by.
_SLOWER = 1.25  # times as long
_UNSTEADY = 0.2
_SAME = 0.05  # the largest spread within which two measurements count as the same
_DOUBTED = "the last doubted profile"
_THOROUGH = "the profile is of a thorough measurement"


@dataclass(frozen=True)
class Measurement:
    """Why the profile is not used: a one-token pass took `slower` times as long as before, the
    times of one pass differ by the share `unsteady`, or nothing differs from before by more than
    the share `same`, which is the spread of the times. If all are None, it is now the profile of
    this machine."""

    profile: HardwareProfile
    slower: float | None = None
    unsteady: float | None = None
    same: float | None = None

    @property
    def is_used(self) -> bool:
        return not self.is_doubted and self.same is None

    @property
    def is_doubted(self) -> bool:
        return self.slower is not None or self.unsteady is not None


def measure_machine(
    pair: Pair, seconds: float = SECONDS, progress: Progress = lambda _: None
) -> Measurement:
    """Time the passes of `pair` for at most about `seconds`. The profile is stored with the pair,
    and from then on it is the profile of this machine. But if other programs seem to have slowed
    the measurement down, the earlier profile stays, unless the last measurement found the same. It
    also stays, and with it the trees planned for it, if another thorough measurement only differs
    from it by chance."""
    before = pair.measured.profile
    profile = measure_profile(pair, seconds=seconds, rounds=ROUNDS, progress=progress)
    last = pair.measured.other.pop(_DOUBTED, None)
    is_repeated = last is not None and 1 / _SLOWER < _ratio(profile, last) < _SLOWER
    if before is None or is_repeated:
        measurement = Measurement(profile)
    else:
        measurement = compared(before, profile)
        if measurement.is_used and _THOROUGH in pair.measured.other:
            measurement = Measurement(profile, same=_sameness(pair, before, profile))
    if measurement.is_used:
        pair.measured.profile = profile
        pair.measured.other[_THOROUGH] = True
    elif measurement.is_doubted:
        pair.measured.other[_DOUBTED] = profile
    return measurement


def _sameness(pair: Pair, before: HardwareProfile, after: HardwareProfile) -> float | None:
    """The spread of the times in `after`, if a one-token pass takes as long as `before`, and the
    trees planned for `before` are as fast as those for `after`, both within that spread, of
    which at most _SAME counts."""
    spread = min(_spread(after), _SAME)
    vectors = [*(one.acceptance for one in pair.known), *pair.measured.acceptances.values()]
    losses = [_loss(acceptance, before, after) for acceptance in vectors]
    return spread if max(abs(_ratio(after, before) - 1), *losses, 0.0) <= spread else None


def _loss(acceptance: Acceptance, before: HardwareProfile, after: HardwareProfile) -> float:
    """How much slower, as a share, the tree planned for `before` is than that for `after`."""
    old = predict(best_plan(acceptance, before, slack=SLACK).tree, acceptance, after)
    new = best_plan(acceptance, after, slack=SLACK)
    return 1 - old.predicted_speedup / new.predicted_speedup


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
