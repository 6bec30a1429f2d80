"""Plans compared: the fastest of a grid and its rivals, those for another machine, and those for a
batch of texts."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import scores
from sequoia.algorithm.tree import Tree
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.planning.plan_for_machine import (
    USUAL_NODES,
    Plan,
    SpeedupGrid,
    best_chain,
    best_plan,
)
from sequoia.planning.simulated_step_times import SimulatedClock

_SAME = 1e-9  # speed-ups this close (relative) count as equal


def knee(profile: HardwareProfile) -> int | None:
    """The smallest number of nodes whose target pass takes at least twice as long as a pass over
    one node. None if no pass up to the largest size in the profile takes that long."""
    last = profile.target_seconds[-1][0]
    seconds = profile.verify_seconds
    nodes = 1 + bisect_left(range(1, last + 1), 2 * seconds(1), key=seconds)
    return nodes if nodes <= last else None


def chosen(grid: SpeedupGrid) -> tuple[int, int]:
    """(row, column) of the fastest cell. Of equally fast cells, the one in the first column, then
    in the first row. The grid must have a tree."""
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
    best = max(plan.predicted_speedup for plan, _, _ in cells) * (1 - _SAME)
    return next(cell for cell in cells if cell[0].predicted_speedup >= best)


def runner_up(grid: SpeedupGrid) -> Plan | None:
    """The fastest plan with a tree other than the chosen one. None if there is no other tree."""
    best = fastest(grid)
    others = [plan for row in grid.plans for plan in row if plan and plan.tree != best.tree]
    return max(others, key=lambda plan: plan.predicted_speedup, default=None)


def chain_gains(tree: Tree, acceptance: Acceptance) -> tuple[float, float] | None:
    """For a chain of several nodes: how many expected tokens per step its last node adds, and how
    many a second child of the root would add. None for other trees."""
    if len(tree) == 1 or tree.levels < len(tree):
        return None
    *_, last = scores(tree, acceptance)
    return last, scores(Tree((-1, 0, 0)), acceptance)[2]


# -- another machine -------------------------------------------------------------------------------


_MIN_RATIO = 1.05  # a smaller predicted lead may be an error of the prediction


@dataclass(frozen=True)
class OtherMachine:
    """clock: the name of the machine's simulated clock. ratio: the predicted speed of the tree
    planned for that machine, divided by that of the best chain there."""

    clock: str
    ratio: float


def tree_elsewhere(acceptance: Acceptance, clocks: Iterable[SimulatedClock]) -> OtherMachine | None:
    """The first machine in `clocks` for which the planned tree is predicted to be at least 5%
    faster than the best chain; None if there is no such machine."""
    for clock in clocks:
        tree = best_plan(acceptance, clock.profile)
        chain = best_chain(acceptance, clock.profile)
        ratio = tree.predicted_speedup / chain.predicted_speedup
        if ratio >= _MIN_RATIO:
            return OtherMachine(clock.name, ratio)
    return None


# -- a batch ---------------------------------------------------------------------------------------
# A what-if: B texts decoded at once, each with a tree of its own. A pass over trees of n nodes is
# then a pass over B x n nodes. All B take the step together, so speed-ups are over plain decoding
# of the same batch. Not modelled: that each text reads its own KV cache.


BATCHES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class AtBatch:
    """The fastest tree and the fastest chain for a batch. Each is a single node, plain decoding, if
    nothing is faster."""

    batch: int
    tree: Plan
    chain: Plan


def for_batch(profile: HardwareProfile, batch: int) -> HardwareProfile:
    """The simulated times of `batch` texts at once, by the nodes of one text's tree. Above the
    largest size of `profile`, they are extrapolated as it says."""

    def at_once(points: tuple[Point, ...], at: str) -> tuple[Point, ...]:
        known = [size for size, *_ in points]
        sizes = sorted({1, *known, *(math.ceil(size / batch) for size in known)})
        seconds = getattr(profile, at)
        return tuple((size, seconds(size * batch), 0.0) for size in sizes if size <= USUAL_NODES)

    return replace(
        profile,
        target_seconds=at_once(profile.target_seconds, "verify_seconds"),
        draft_seconds=at_once(profile.draft_seconds, "draft_seconds_at"),
        overhead_seconds=at_once(profile.overhead_seconds, "overhead"),
        source="simulated",
    )


def at_batches(acceptance: Acceptance, profile: HardwareProfile, nodes: int) -> list[AtBatch]:
    """The plans for each of BATCHES, with at most `nodes` nodes, and no more than USUAL_NODES."""
    most = min(nodes, USUAL_NODES)
    times = [(batch, for_batch(profile, batch)) for batch in BATCHES]
    return [
        AtBatch(batch, best_plan(acceptance, one, most), best_chain(acceptance, one, min(most, 16)))
        for batch, one in times
    ]
