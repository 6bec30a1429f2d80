"""Explains why a tree is the best, and why a run was faster or slower than predicted."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import scores
from sequoia.algorithm.step_trace import PHASES, DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.errors import BadProfile, BadTrace
from sequoia.planning.figure_words import (
    and_list,
    as_shown,
    size_words,
    time_words,
    token_words,
)
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan, SpeedupGrid
from sequoia.planning.simulated_step_times import phases
from sequoia.validate_input import shown

_SAME = 1e-9  # speed-ups (relative) or tokens per step (absolute) this close count as equal
_ACTIVITY = {"draft": "drafting", "verify": "verifying", "overhead": "overhead"}


def knee(profile: HardwareProfile) -> int | None:
    """The smallest number of nodes whose target pass takes at least twice as long as a pass over
    one node. None if no pass up to the largest size in the profile takes that long."""
    last = profile.target_seconds[-1][0]
    seconds = profile.verify_seconds
    nodes = 1 + bisect_left(range(1, last + 1), 2 * seconds(1), key=seconds)
    return nodes if nodes <= last else None


# -- the best tree ---------------------------------------------------------------------------------


def chosen(grid: SpeedupGrid) -> tuple[int, int]:
    """(row, column) of the fastest cell. Of equally fast cells, the one in the first column, then
    in the first row. Raises BadProfile if the grid has no tree at all."""
    _, row, column = _fastest_cell(grid)
    return row, column


def fastest(grid: SpeedupGrid) -> Plan:
    """The plan of the cell that `chosen` returns."""
    return _fastest_cell(grid)[0]


def _fastest_cell(grid: SpeedupGrid) -> tuple[Plan, int, int]:
    cells = [
        (plan, row, column)
        for column in range(len(grid.sizes))
        for row in range(len(grid.levels))
        if (plan := grid.plans[row][column])
    ]
    if not cells:
        raise BadProfile(
            f"no tree in a grid of {len(grid.levels)} level limits and {len(grid.sizes)} sizes; "
            "at least 1 is needed"
        )
    best = max(plan.predicted_speedup for plan, _, _ in cells) * (1 - _SAME)
    return next(cell for cell in cells if cell[0].predicted_speedup >= best)


def why(grid: SpeedupGrid, profile: HardwareProfile) -> str:
    """Sentences about the tree of the fastest cell of `grid`, about the best tree with one more
    level, and about the runner-up. The warning of `calibration_words` follows. What `grid` does not
    show is left out."""
    best, _, column = _fastest_cell(grid)
    words = _best_words(best)
    second = runner_up(grid)
    deeper = _one_more_level(grid, best, column)
    same = second is not None and deeper is not None and second.tree == deeper.tree
    if deeper:
        rival = (
            _runner_up_words(deeper)
            if same
            else f"With one more level, the best tree of {len(best.tree)} nodes"
        )
        words += f". {rival} is {_trade(deeper, best, profile)}"
    elif no_deeper := _no_deeper(best.tree, grid):
        words += f". {no_deeper}"
    if second and not same:
        words += f". {_runner_up_words(second)} is {_trade(second, best, profile)}"
    return f"{words}. {calibration_words(best.tree, profile)}".rstrip()


def calibration_words(tree: Tree, profile: HardwareProfile) -> str:
    """A warning if `tree` is larger than every tree whose time was measured or compared with a
    measurement. Empty otherwise, and for plain decoding."""
    most = profile.calibrated_up_to
    if len(tree) <= max(most, 1):
        return ""
    if profile.source == "simulated" and not most:
        return "These times are simulated; none of them was checked against a measurement."
    if profile.source == "simulated":
        return (
            f"These times are simulated and were compared with measurements up to {most} nodes; "
            f"for {len(tree)} nodes they are extrapolated."
        )
    return (
        f"Times are known up to {most} node{'s' * (most != 1)}; for {len(tree)} nodes they are "
        "extrapolated."
    )


def runner_up(grid: SpeedupGrid) -> Plan | None:
    """The fastest plan with a tree other than the chosen one. None if there is no other tree."""
    best = fastest(grid)
    others = [plan for row in grid.plans for plan in row if plan and plan.tree != best.tree]
    return max(others, key=lambda plan: plan.predicted_speedup, default=None)


def _runner_up_words(plan: Plan) -> str:
    return f"The runner-up, {size_words(plan.tree)},"


def _best_words(best: Plan) -> str:
    if len(best.tree) == 1:
        return (
            f"Best: plain decoding, one token in {time_words(best.predicted_seconds)}. No tree of "
            "these sizes is faster"
        )
    return (
        f"Best: {size_words(best.tree)}. {best.expected_tokens:.2f} tokens in "
        f"{time_words(best.predicted_seconds)} = {best.predicted_speedup:.2f}× plain decoding"
    )


def _one_more_level(grid: SpeedupGrid, best: Plan, column: int) -> Plan | None:
    """The best plan of the same size as `best` with one more level allowed. None if the grid has no
    such plan, or if its tree is that of `best`."""
    cap = best.tree.levels + 1
    plan = grid.plans[grid.levels.index(cap)][column] if cap in grid.levels else None
    return plan if plan and plan.tree != best.tree else None


def _no_deeper(tree: Tree, grid: SpeedupGrid) -> str:
    """Why allowing one more level gives the same tree. Empty if the grid does not show that, and
    for plain decoding."""
    if len(tree) == 1 or tree.levels >= max(grid.levels):
        return ""
    if tree.levels == len(tree):
        return f"{len(tree)} nodes cannot use more than {len(tree)} levels"
    if tree.levels + 1 in grid.levels:
        return "One more level changes nothing: the best tree of this size does not use it"
    return ""


def _trade(rival: Plan, best: Plan, profile: HardwareProfile) -> str:
    """How fast `rival` is compared with `best`, and what a step gains and loses: "1.32% slower
    (2.28×): a step gives 0.21 more tokens but takes 1.4 ms longer (1.2 ms of it drafting)". Its
    speed-up is left out if it looks the same as that of `best` once both are rounded."""
    tokens = rival.expected_tokens - best.expected_tokens
    seconds = rival.predicted_seconds - best.predicted_seconds
    speedup, other = (f" ({one.predicted_speedup:.2f}×)" for one in (rival, best))
    start = f"{_slower(rival, best)}{speedup if speedup != other else ''}: a step"
    longer = _longer(rival, best, profile)
    if tokens > _SAME and seconds > 0:
        return f"{start} gives {token_words(tokens)} more tokens but takes {longer}"
    if tokens < -_SAME and seconds < 0:
        return f"{start} takes {longer} but gives {token_words(-tokens)} fewer tokens"
    change = "no more tokens" if tokens > -_SAME else f"{token_words(-tokens)} fewer tokens"
    return f"{start} takes {longer} and gives {change}"


def _slower(rival: Plan, best: Plan) -> str:
    share = 1 - rival.predicted_speedup / best.predicted_speedup
    return "practically as fast" if share < 5e-4 else f"{share:.2%} slower"


def _longer(rival: Plan, best: Plan, profile: HardwareProfile) -> str:
    """The difference in step time, with the phase that changes most: "1.4 ms longer (1.2 ms of it
    drafting)". If this phase explains the whole difference: "1.4 ms longer (drafting)". If the
    phase and the step change in opposite directions, the phase's time has a minus sign."""
    mine = phases(rival.tree, profile)
    theirs = phases(best.tree, profile)
    change = {phase: mine[phase] - theirs[phase] for phase in PHASES}
    total = sum(change.values())
    most = max(change, key=lambda phase: abs(change[phase]))
    words = f"{time_words(abs(total))} {'less' if total < 0 else 'longer'}"
    if math.isclose(change[most], total, rel_tol=0.02):
        return f"{words} ({_ACTIVITY[most]})"
    sign = "" if change[most] * total > 0 else "−"
    return f"{words} ({sign}{time_words(abs(change[most]))} of it {_ACTIVITY[most]})"


def why_chain(tree: Tree, acceptance: Acceptance) -> str:
    """Why `tree`, which was planned with `acceptance`, is a chain: its last node adds more tokens
    than a second child of the root would. Empty for trees that branch and for plain decoding."""
    if len(tree) == 1 or tree.levels < len(tree):
        return ""
    *_, last = scores(tree, acceptance)
    second = scores(Tree((-1, 0, 0)), acceptance)[2]
    return (
        f"A chain: its last node is predicted to add {token_words(last)} tokens per step, a second "
        f"child of the root only {token_words(second)}."
    )


# -- predicted and measured ------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One reason why measured and predicted speed-up differ. name: "tokens" (values in tokens per
    step), "draft", "verify" or "overhead" (seconds per step), or "plain" (seconds per token).
    alone: the speed-up with this part as measured and all other parts as predicted."""

    name: str
    predicted: float
    measured: float
    alone: float

    @property
    def difference(self) -> str:
        """The measured value compared with the predicted one: "1.2 ms more", "0.31 fewer". This is
        the difference of the two values as they are shown, unless these are equal."""
        if self.name == "tokens":
            change = round(self.measured, 2) - round(self.predicted, 2)
            change = change or self.measured - self.predicted
            return f"{token_words(abs(change))} {'more' if change > 0 else 'fewer'}"
        change = as_shown(self.measured) - as_shown(self.predicted)
        change = change or self.measured - self.predicted
        return f"{time_words(abs(change))} {'more' if change > 0 else 'less'}"


@dataclass(frozen=True)
class Comparison:
    """Predicted and measured speed-up over plain decoding, and the parts of the difference.

    plain_measured: whether plain decoding was timed too. If not, its time is taken from the
    profile.
    """

    predicted: float
    measured: float
    parts: tuple[Part, ...]
    plain_measured: bool

    @property
    def sentence(self) -> str:
        """Both speed-ups, and the parts that explain the difference: those that raised the
        speed-up and those that lowered it, the largest effect first."""
        ordered = sorted(
            filter(self.matters, self.parts),
            key=lambda part: -abs(math.log(part.alone / self.predicted)),
        )
        base = (
            ", measured"
            if self.plain_measured
            else "; with the measured steps and the profile's time per plain token,"
        )
        start = f"Predicted {self.predicted:.2f}×{base} {self.measured:.2f}×"
        if not ordered:
            return f"{start}: no part alone changes the speed-up by more than 0.5%."
        changes: dict[str, list[str]] = {}
        for part in ordered:
            change = "Raised" if part.alone > self.predicted else "Lowered"
            changes.setdefault(change, []).append(_part(part))
        return " ".join(
            [f"{start}.", *(f"{how} by {and_list(by)}." for how, by in changes.items())]
        )

    def matters(self, part: Part) -> bool:
        """Whether `part` alone changes the speed-up by more than half a per cent."""
        return abs(math.log(part.alone / self.predicted)) > 0.005

    def effect(self, part: Part) -> str:
        """The effect of `part`: "1.2 ms more: alone, this would give 1.50× instead of 1.90×"."""
        if math.isclose(part.predicted, part.measured, rel_tol=0.005):
            return "as predicted"
        if not self.matters(part):
            return f"{part.difference}, hardly any effect"
        return (
            f"{part.difference}: alone, this would give {part.alone:.2f}× instead of "
            f"{self.predicted:.2f}×"
        )


def compare(
    stats: DecodeStats, plan: Plan, profile: HardwareProfile, plain_seconds: float | None = None
) -> Comparison:
    """The prediction of `plan` compared with a run of its tree. Raises BadTrace for a run without
    steps, tokens or verification time, or with simulated times.

    plain_seconds: measured time per token of plain decoding. If None, the profile's time is used
    for both speed-ups.
    """
    if stats.clock:
        raise BadTrace(
            f"the run has the simulated times of {shown(stats.clock)}; a prediction is compared "
            "with measured times only"
        )
    if not stats.steps or not stats.tokens or not stats.seconds["verify"] > 0:
        raise BadTrace(
            f"the run has {stats.steps} steps, {stats.tokens} tokens and "
            f"{stats.seconds['verify']:g} s of verification; a comparison needs at least 1 step, "
            "1 token and a verification time above 0"
        )
    before = phases(plan.tree, profile)
    speedup = plan.predicted_speedup
    after = {phase: stats.seconds[phase] / stats.steps for phase in PHASES}
    plain = profile.plain_seconds if plain_seconds is None else plain_seconds
    step = sum(before.values())
    parts = [
        Part(
            "tokens",
            plan.expected_tokens,
            stats.tokens_per_step,
            speedup * stats.tokens_per_step / plan.expected_tokens,
        ),
        *(
            Part(
                phase,
                before[phase],
                after[phase],
                speedup * step / (step - before[phase] + after[phase]),
            )
            for phase in PHASES
        ),
        Part("plain", profile.plain_seconds, plain, speedup * plain / profile.plain_seconds),
    ]
    measured = stats.tokens_per_step * plain * stats.steps / stats.total_seconds
    return Comparison(speedup, measured, tuple(parts), plain_seconds is not None)


def _part(part: Part) -> str:
    """How a part differs from its prediction: "fewer tokens per step", "slower drafting"."""
    is_more = part.measured > part.predicted
    if part.name == "tokens":
        return f"{'more' if is_more else 'fewer'} tokens per step"
    if part.name == "overhead":
        return f"{'more' if is_more else 'less'} overhead"
    what = "plain decoding" if part.name == "plain" else _ACTIVITY[part.name]
    return f"{'slower' if is_more else 'faster'} {what}"
