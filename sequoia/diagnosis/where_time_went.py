"""Where the time of a run went: what a step costs, and what a change of one of its parts does to
the speed-up.

A step emits t tokens and takes v + d + o seconds (verify, draft, overhead). A token of plain
decoding takes P = pv + po seconds (its pass, everything else). The speed-up is t P / (v + d + o).
To explain it, parts of one step are replaced by those of another:

- All in turn (`bars`): from a step that takes as long as a plain token to the step of the run.

      tokens     t                                    if a step took as long as a plain token
      verify     t P / (P + (v - pv))                 but its target pass takes v instead of pv
      draft      t P / (P + (v - pv) + d)             and the tree has to be drafted
      overhead   t P / (P + (v - pv) + d + (o - po))  and the rest takes o instead of po

  The last bar is the speed-up of the run. The order matters, because the same time costs less
  speed-up in a step that is already slow. Verification comes first, because even a perfect draft
  needs it. Drafting comes next, because without it a step would emit only one token. Overhead is
  last, because a better engine could avoid it. A negative loss is a gain.
- One alone (`StepCosts.each_as_in`): how fast the run would be without its drafting time, or with
  more accepted tokens; how fast a predicted step would be with one part as it was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from sequoia.algorithm.step_trace import PHASES, DecodeStats, require_one_clock
from sequoia.errors import BadTrace
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan
from sequoia.planning.simulated_step_times import phases
from sequoia.saved_files.race_results import StepCosts, TimeBreakdown
from sequoia.validate_input import shown


def time_breakdown(stats: DecodeStats, plain: DecodeStats) -> TimeBreakdown:
    """A mean step of the run `stats`, compared with the plain run `plain`.

    Raises BadTrace if a run has no step, if its target passes took no time, or if the two runs were
    not timed by the same clock.
    """
    require_one_clock(stats, plain)
    step = per_step(stats, "the run")
    token = per_token(plain)
    seconds = sum(token.values())
    return TimeBreakdown(
        StepCosts(stats.tokens / stats.steps, **step, plain=seconds),
        StepCosts(1.0, **token, plain=seconds),
    )


def per_step(stats: DecodeStats, what: str) -> dict[str, float]:
    """Mean seconds per step, by phase. Raises BadTrace for a run without steps, or if its target
    passes took no time. The message calls the run `what`."""
    if not stats.steps or not stats.seconds["verify"]:
        raise BadTrace(f"{what} has {stats.steps} steps, or no time in its target passes")
    return {phase: stats.seconds[phase] / stats.steps for phase in PHASES}


def per_token(plain: DecodeStats) -> dict[str, float]:
    """Mean seconds per token of the plain run, by phase. Raises BadTrace as `per_step` does."""
    return {
        phase: seconds * plain.steps / plain.tokens
        for phase, seconds in per_step(plain, "the plain run").items()
    }


@dataclass(frozen=True)
class CheckedPrediction:
    """A predicted step beside the measured one. plain_measured: whether plain decoding was timed
    too. If not, its time is taken from the profile."""

    predicted: StepCosts
    measured: StepCosts
    plain_measured: bool

    @property
    def alone(self) -> dict[str, float]:
        """The predicted speed-up with one of PARTS alone as measured."""
        return self.predicted.each_as_in(self.measured)


def check_prediction(
    stats: DecodeStats, plan: Plan, profile: HardwareProfile, plain_seconds: float | None = None
) -> CheckedPrediction:
    """The prediction of `plan` compared with a run of its tree. Raises BadTrace for a run without
    steps or verification time, or with simulated times.

    plain_seconds: measured time per token of plain decoding. If None, the profile's time is used
    for both speed-ups.
    """
    if stats.clock:
        raise BadTrace(
            f"the run has the simulated times of {shown(stats.clock)}; a prediction is compared "
            "with measured times only"
        )
    plain = profile.plain_seconds if plain_seconds is None else plain_seconds
    return CheckedPrediction(
        StepCosts(plan.expected_tokens, **phases(plan.tree, profile), plain=profile.plain_seconds),
        StepCosts(stats.tokens_per_step, **per_step(stats, "the run"), plain=plain),
        plain_seconds is not None,
    )
