"""A thorough measurement of this machine, started by a visitor's button or by --measure."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from sequoia import Acceptance, HardwareProfile, Pair, best_plan, measure_profile
from sequoia.algorithm.progress import Progress
from sequoia.measuring.defaults import SLACK
from sequoia.measuring.hardware import PASSES
from sequoia.planning.plan_for_machine import predict
from ui.serving.fair_queue import Demand
from ui.serving.job import MeasurementJob
from ui.serving.model_host import ModelHost

SECONDS = 28.0
ROUNDS = 90


_SAME = 0.05  # the largest spread within which two measurements count as the same
_THOROUGH = "the profile is of a thorough measurement"


class Measurement(NamedTuple):
    """A measured profile. same: None if it is now the profile of this machine. If it differs from
    the thorough measurement before by chance only, that one stays; `same` is then the share within
    which they are equal."""

    profile: HardwareProfile
    same: float | None = None


def measure_machine(
    pair: Pair, seconds: float = SECONDS, progress: Progress = lambda _: None
) -> Measurement:
    """Time the passes of `pair` for at most about `seconds`. The profile is stored with the pair,
    and from then on it is the profile of this machine, unless the earlier one stays and with it the
    trees planned for it; see Measurement."""
    before = pair.measured.profile
    profile = measure_profile(pair, seconds=seconds, rounds=ROUNDS, progress=progress)
    if before and _THOROUGH in pair.measured.other:
        same = _sameness(pair, before, profile)
        if same is not None:
            return Measurement(profile, same)
    pair.measured.profile = profile
    pair.measured.other[_THOROUGH] = True
    return Measurement(profile)


def _sameness(pair: Pair, before: HardwareProfile, after: HardwareProfile) -> float | None:
    """The spread of the times in `after`, at most _SAME, if within it a one-token pass takes as
    long as `before`, and the trees planned for `before` are as fast as those for `after`."""
    spreads = [spread / seconds for _, seconds, spread in after.target_seconds]
    spread = min(statistics.median(spreads), _SAME)
    vectors = [*(one.acceptance for one in pair.known), *pair.measured.acceptances.values()]
    losses = [_loss(acceptance, before, after) for acceptance in vectors]
    change = abs(after.verify_seconds(1) / before.verify_seconds(1) - 1)
    return spread if max(change, *losses, 0.0) <= spread else None


def _loss(acceptance: Acceptance, before: HardwareProfile, after: HardwareProfile) -> float:
    """How much slower, as a share, the tree planned for `before` is than that for `after`."""
    old = predict(best_plan(acceptance, before, slack=SLACK).tree, acceptance, after)
    new = best_plan(acceptance, after, slack=SLACK)
    return 1 - old.predicted_speedup / new.predicted_speedup


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
            "timing passes of both models in turn"
            if share < PASSES
            else "timing the engine's own overhead",
        )
