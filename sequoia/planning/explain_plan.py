"""Why a tree won, and why a run was faster or slower than predicted: figures and sentences from
plans. Measures nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import scores
from sequoia.algorithm.step_trace import PHASES, DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.errors import BadProfile, BadTrace
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan, SpeedupGrid

_SAME = 1e-9  # speed-ups closer than this (relative) are equal
_DOING = {"draft": "drafting", "verify": "verifying", "overhead": "overhead"}


def knee(profile: HardwareProfile) -> int | None:
    """The fewest nodes over which a target pass takes twice as long as over one; None where no
    measured size does."""
    last = profile.target_seconds[-1][0]
    limit = 2 * profile.verify_seconds(1)
    if profile.verify_seconds(last) < limit:
        return None
    low = 1
    high = last
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if profile.verify_seconds(middle) >= limit else (middle, high)
    return high


def phases(tree: Tree, profile: HardwareProfile) -> dict[str, float]:
    """Predicted seconds of one step with `tree` by phase; they sum to `plan.step_seconds`."""
    return {
        "draft": sum(profile.draft_seconds_at(width) for width in tree.widths),
        "verify": profile.verify_seconds(len(tree)),
        "overhead": profile.overhead(len(tree), len(tree.widths)),
    }


# -- the choice ------------------------------------------------------------------------------------


def chosen(grid: SpeedupGrid) -> tuple[int, int]:
    """(row, column) of the fastest cell; among equals the one with the fewest nodes,
    then the fewest levels.

    Raises BadProfile where the grid has no tree at all.
    """
    cells = [
        (plan, row, column)
        for column in range(len(grid.sizes))
        for row, plan in enumerate(_column(grid, column))
        if plan
    ]
    if not cells:
        raise BadProfile(
            f"no tree in a grid of {len(grid.levels)} level caps and {len(grid.sizes)} sizes; "
            "at least 1 is needed"
        )
    best = max(plan.predicted_speedup for plan, _, _ in cells) * (1 - _SAME)
    return next((row, column) for plan, row, column in cells if plan.predicted_speedup >= best)


def fastest(grid: SpeedupGrid) -> Plan:
    """The plan of the chosen cell."""
    return _plan(grid, *chosen(grid))


def why(grid: SpeedupGrid, profile: HardwareProfile) -> str:
    """Why the fastest cell of `grid` won, what one level more would change, and what
    the runner-up loses."""
    row, column = chosen(grid)
    best = _plan(grid, row, column)
    words = _won(best)
    second = runner_up(grid)
    deeper = _one_level_more(grid, row, column)
    same = second is not None and deeper is not None and second.tree == deeper.tree
    if deeper:
        words += (
            f". One level more{', the runner-up,' if same else ''} would "
            f"{_trade(deeper, best, profile)}"
        )
    elif len(best.tree) > 1 and best.tree.levels < max(grid.levels):
        words += ". One level more changes nothing: the best tree of this size has no node there"
    if second and not same:
        words += (
            f". The runner-up, {size_words(second.tree)}, would {_trade(second, best, profile)}"
        )
    return words + "."


def runner_up(grid: SpeedupGrid) -> Plan | None:
    """The fastest plan of another tree than the chosen one; None where there is none."""
    best = fastest(grid)
    others = [plan for row in grid.plans for plan in row if plan and plan.tree != best.tree]
    return max(others, key=lambda plan: plan.predicted_speedup, default=None)


def _won(best: Plan) -> str:
    if len(best.tree) == 1:
        return (
            f"Plain decoding wins, one token in {time_words(best.predicted_seconds)}: "
            "no tree of these sizes earns its time back"
        )
    return (
        f"{size_words(best.tree)} win: {best.expected_tokens:.2f} tokens in "
        f"{time_words(best.predicted_seconds)} are {best.predicted_speedup:.2f}× plain decoding"
    )


def _one_level_more(grid: SpeedupGrid, row: int, column: int) -> Plan | None:
    """The plan of the same size under the next cap above the chosen tree's levels; None where it
    is the same tree."""
    best = _plan(grid, row, column)
    cap = best.tree.levels + 1
    plan = grid.plans[grid.levels.index(cap)][column] if cap in grid.levels else None
    return plan if plan and plan.tree != best.tree else None


def _trade(rival: Plan, best: Plan, profile: HardwareProfile) -> str:
    """What `rival` gains and pays against `best`: "add 0.21 tokens but 1.4 ms, 1.2 ms of it
    drafting (2.28×, 1.3 % slower)"."""
    tokens = rival.expected_tokens - best.expected_tokens
    seconds = rival.predicted_seconds - best.predicted_seconds
    end = f" ({rival.predicted_speedup:.2f}×, {_slower(rival, best)})"
    cost = _cost(rival, best, profile)
    if tokens > _SAME and seconds > 0:
        return f"add {_few(tokens)} tokens but {cost}{end}"
    if tokens < -_SAME and seconds < 0:
        return f"save {cost} but give up {_few(-tokens)} tokens{end}"
    return (
        f"cost {cost} and {'no token less' if tokens > -_SAME else f'{_few(-tokens)} tokens'}{end}"
    )


def _slower(rival: Plan, best: Plan) -> str:
    share = 1 - rival.predicted_speedup / best.predicted_speedup
    return "as fast" if share < 5e-5 else f"{share:.1%} slower".replace("%", " %")


def _cost(rival: Plan, best: Plan, profile: HardwareProfile) -> str:
    """The difference in time, with the phase that makes most of it."""
    mine = phases(rival.tree, profile)
    theirs = phases(best.tree, profile)
    change = {phase: mine[phase] - theirs[phase] for phase in PHASES}
    total = sum(change.values())
    most = max(change, key=lambda phase: abs(change[phase]))
    if math.isclose(change[most], total, rel_tol=0.02):
        return f"{time_words(abs(total))} of {_DOING[most]}"
    sign = "" if change[most] * total > 0 else "−"
    return f"{time_words(abs(total))}, {sign}{time_words(abs(change[most]))} of it {_DOING[most]}"


def why_chain(tree: Tree, acceptance: Acceptance) -> str:
    """Why the fastest tree has no branch, where it has none: what its last node adds, held against
    a second child of the root. Empty for trees that branch and for plain decoding."""
    if len(tree) == 1 or tree.levels < len(tree):
        return ""
    *_, last = scores(tree, acceptance)
    second = scores(Tree((-1, 0, 0)), acceptance)[2]
    return (
        f"A chain: its last node is predicted to add {_few(last)} tokens a step, a second guess at "
        f"its root only {_few(second)}."
    )


# -- predicted and measured ------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One reason for a difference: "tokens" (a step), "draft", "verify", "overhead"
    (seconds a step) or "plain" (seconds a token). `alone`: the speed-up with this part as measured
    and all others as predicted."""

    name: str
    predicted: float
    measured: float
    alone: float

    @property
    def difference(self) -> str:
        """What was measured against what was predicted: "1.2 ms more" or "0.31 tokens fewer"."""
        change = self.measured - self.predicted
        if self.name == "tokens":
            return f"{_few(abs(change))} tokens {'more' if change > 0 else 'fewer'}"
        return f"{time_words(abs(change))} {'more' if change > 0 else 'less'}"


@dataclass(frozen=True)
class Comparison:
    """Speed-ups over plain decoding, and the parts that lead from `predicted` to `measured`."""

    predicted: float
    measured: float
    parts: tuple[Part, ...]
    plain_measured: bool

    @property
    def sentence(self) -> str:
        """The two speed-ups and the parts that account for the difference, the weightiest first."""
        ordered = sorted(
            filter(self.weighs, self.parts),
            key=lambda part: -abs(math.log(part.alone / self.predicted)),
        )
        base = "measured" if self.plain_measured else "predicted with the profile's plain token"
        start = f"Predicted {self.predicted:.2f}×, {base} {self.measured:.2f}×"
        return (
            f"{start}: {'; '.join(map(_part, ordered))}."
            if ordered
            else f"{start}: every part is as predicted."
        )

    def weighs(self, part: Part) -> bool:
        """Whether `part` by itself changes the speed-up by more than half a per cent."""
        return abs(math.log(part.alone / self.predicted)) > 0.005

    def effect(self, part: Part) -> str:
        """What `part` did: "1.2 ms more, which alone makes 1.50× instead of 1.90×"."""
        if math.isclose(part.predicted, part.measured, rel_tol=0.005):
            return "as predicted"
        if not self.weighs(part):
            return f"{part.difference}, hardly any effect"
        return (
            f"{part.difference}, which alone makes {part.alone:.2f}× instead of "
            f"{self.predicted:.2f}×"
        )


def compare(
    stats: DecodeStats, plan: Plan, profile: HardwareProfile, plain_seconds: float | None = None
) -> Comparison:
    """What `plan` predicted held against what a run with its tree did. Raises BadTrace for a run
    without steps or time.

    plain_seconds: a token of plain decoding, where it was timed; otherwise the
    profile's serves for both.
    """
    if not stats.steps or not stats.tokens or not stats.seconds["verify"] > 0:
        raise BadTrace(
            f"a run of {stats.steps} steps, {stats.tokens} tokens and {stats.seconds['verify']:g} "
            "s of verifying; at least 1 step, 1 token and some time are needed"
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
    if part.name == "tokens":
        return (
            f"{part.measured:.2f} tokens a step instead of {part.predicted:.2f} (alone "
            f"{part.alone:.2f}×)"
        )
    what = "a plain token took" if part.name == "plain" else f"{_DOING[part.name]} took"
    return (
        f"{what} {time_words(part.measured)} instead of {time_words(part.predicted)} (alone "
        f"{part.alone:.2f}×)"
    )


# -- words -----------------------------------------------------------------------------------------


def size_words(tree: Tree) -> str:
    """A tree's size: "6 nodes on 3 levels"."""
    return (
        f"{len(tree)} node{'s' * (len(tree) > 1)} on {tree.levels} level{'s' * (tree.levels > 1)}"
    )


def time_words(seconds: float) -> str:
    """A time in the unit that reads best: "1.20 s", "3.4 ms", "250 µs"."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return (
        f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 or seconds == 0 else f"{seconds * 1e6:.0f} µs"
    )


def _few(tokens: float) -> str:
    return f"{tokens:.2f}" if tokens >= 0.1 or tokens == 0 else f"{tokens:.2g}"


def _plan(grid: SpeedupGrid, row: int, column: int) -> Plan:
    plan = grid.plans[row][column]
    if plan is None:
        raise BadProfile(f"no tree has {grid.sizes[column]} nodes on {grid.levels[row]} levels")
    return plan


def _column(grid: SpeedupGrid, column: int) -> Iterator[Plan | None]:
    return (row[column] for row in grid.plans)
