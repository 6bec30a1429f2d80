"""The fastest tree for a machine (paper: section 3.3): the one with the most expected tokens per
second. The time of a step is predicted by simulated_step_times.py."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from operator import mul

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import Growth, best_first
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.pictures import tree_svg
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.errors import BadTree
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.simulated_step_times import StepTimes, step_seconds
from sequoia.validate_input import number, whole

USUAL_NODES = 128
USUAL_LEVELS = 16
LARGE_TREE_LEVELS = 24  # for trees of more than USUAL_NODES
_ROUNDING = 1e-12  # speed-ups that differ by at most this share may differ only by rounding


@dataclass(frozen=True)
class Plan:
    """A tree and its prediction: tokens and seconds of one step, and speed-up over plain decoding.
    acceptance: the vector that the prediction is for, smoothed or not. source: where that vector
    comes from, such as "recorded"; empty if unknown."""

    tree: Tree
    expected_tokens: float
    predicted_seconds: float
    predicted_speedup: float
    acceptance: Acceptance | None = None
    source: str = ""

    def _repr_svg_(self) -> str:
        """The tree's picture in a notebook, with the prediction."""
        title = (
            f"{len(self.tree)} nodes on {self.tree.levels} levels, predicted: "
            f"{self.expected_tokens:.2f} tokens per step, {self.predicted_speedup:.2f}x plain"
        )
        return tree_svg(self.tree.parents, title)


@dataclass(frozen=True, eq=False)
class SpeedupGrid:
    """Plans by maximum number of levels (rows) and number of nodes (columns). Where no such tree
    exists, the plan is None and the speed-up NaN."""

    levels: tuple[int, ...]
    sizes: tuple[int, ...]
    plans: tuple[tuple[Plan | None, ...], ...]

    @property
    def speedups(self) -> np.ndarray:
        """Predicted speed-ups, (levels, sizes)."""
        return np.array(
            [[plan.predicted_speedup if plan else math.nan for plan in row] for row in self.plans]
        )


def predict(tree: Tree, acceptance: Acceptance, profile: HardwareProfile) -> Plan:
    """The plan with the given `tree`."""
    tokens = expected_tokens(tree, acceptance)
    seconds = step_seconds(tree, profile)
    return Plan(tree, tokens, seconds, tokens * profile.plain_seconds / seconds, acceptance)


def bounds(profile: HardwareProfile) -> tuple[int, int]:
    """Maximum nodes and levels of a planned tree. Both are higher if the profile contains times of
    target passes over more than USUAL_NODES nodes."""
    nodes = min(max(USUAL_NODES, profile.target_seconds[-1][0]), MAX_NODES)
    return nodes, levels_for(nodes)


def levels_for(nodes: int) -> int:
    """Maximum levels of a planned tree of up to `nodes` nodes."""
    return USUAL_LEVELS if nodes <= USUAL_NODES else LARGE_TREE_LEVELS


def best_plan(
    acceptance: Acceptance,
    profile: HardwareProfile,
    max_nodes: int | None = None,
    max_levels: int | None = None,
    slack: float = 0.0,
) -> Plan:
    """The tree predicted to be fastest, up to `max_nodes` nodes (default: from `bounds`) and
    `max_levels` levels (default: from `levels_for`). It is never predicted to be slower than plain
    decoding. Of the trees with the same size and level limit, only the one with the most expected
    tokens is considered.

    slack: trees count as equally fast if their predicted speed-up is at most this share below the
    highest. Of these, the one with the most expected tokens is chosen. Slack is useful because
    times are only accurate to a few per cent, and a larger tree loses less if the real acceptance
    differs from the vector.

    A vector that increases somewhere is smoothed first. The plan contains the smoothed vector.
    Raises BadTree for maxima outside 1 to MAX_NODES, or a slack outside 0 to 1.
    """
    max_nodes = whole(
        bounds(profile)[0] if max_nodes is None else max_nodes, "max_nodes", 1, MAX_NODES, BadTree
    )
    max_levels = whole(
        levels_for(max_nodes) if max_levels is None else max_levels,
        "max_levels",
        1,
        MAX_NODES,
        BadTree,
    )
    slack = number(slack, "slack", 0, 1, BadTree)
    acceptance = acceptance.smoothed()
    found = list(_growths(acceptance, profile, max_nodes, max_levels))
    fastest = 1.0
    tree = Tree.chain(1)
    for growth, speedups in found:
        n = int(speedups.argmax()) + 1
        if speedups[n - 1] > fastest * (1 + _ROUNDING):
            fastest = speedups[n - 1]
            tree = growth.tree(n)
    if slack and len(tree) > 1:
        tree = _most_tokens(found, max(fastest * (1 - slack), 1.0))
    return predict(tree, acceptance, profile)


def best_chain(
    acceptance: Acceptance,
    profile: HardwareProfile,
    max_nodes: int | None = None,
    slack: float = 0.0,
    min_nodes: int = 1,
) -> Plan:
    """The chain of `min_nodes` to `max_nodes` nodes that is predicted to be fastest. A chain of one
    node is plain decoding. By default the chain has at most as many levels as a planned tree. The
    vector is smoothed as in `best_plan`.

    slack: of all chains whose predicted speed-up is at most this share below the highest, and at
    least 1, the longest is chosen. If all speed-ups are below 1, slack has no effect. Raises
    BadTree for a `max_nodes` outside 1 to MAX_NODES, a `min_nodes` outside 1 to `max_nodes`, or a
    slack outside 0 to 1.
    """
    max_nodes = whole(
        bounds(profile)[1] if max_nodes is None else max_nodes, "max_nodes", 1, MAX_NODES, BadTree
    )
    min_nodes = whole(min_nodes, "min_nodes", 1, max_nodes, BadTree)
    slack = number(slack, "slack", 0, 1, BadTree)
    acceptance = acceptance.smoothed()
    gains = accumulate(repeat(acceptance.rates[0], max_nodes - 1), mul, initial=1.0)
    growth = Growth(Tree.chain(max_nodes).parents, tuple(gains))
    speedups = _speedups(growth, StepTimes(profile, max_nodes), profile)
    nodes = _longest_fast(speedups[min_nodes - 1 :], slack) + min_nodes
    return predict(Tree.chain(nodes), acceptance, profile)


def _longest_fast(speedups: np.ndarray, slack: float) -> int:
    """Index of the largest of `speedups`; of equal ones, the first. With `slack`, the last index
    whose speed-up is at least 1 and at most the share `slack` below the largest. If all are below
    1, `slack` has no effect."""
    fastest = float(speedups.max())
    if not slack:
        return int((speedups >= fastest * (1 - _ROUNDING)).argmax())
    least = max(fastest * (1 - slack), min(fastest, 1 + _ROUNDING))
    return int(np.flatnonzero(speedups >= least)[-1])


def _growths(
    acceptance: Acceptance, profile: HardwareProfile, max_nodes: int, max_levels: int
) -> Iterator[tuple[Growth, np.ndarray]]:
    """For each maximum number of levels from 2 on, the best trees of all sizes and their predicted
    speed-ups, (nodes,)."""
    times = StepTimes(profile, max_nodes)
    for levels in range(2, max_levels + 1):
        growth = best_first(acceptance, max_nodes, levels)
        yield growth, _speedups(growth, times, profile)
        if max(growth.depths) + 1 < levels:
            break  # the trees have fewer levels than allowed, so allowing more changes nothing


def _speedups(growth: Growth, times: StepTimes, profile: HardwareProfile) -> np.ndarray:
    """Predicted speed-ups of the first 1, 2, ... nodes of `growth`, (nodes,)."""
    return profile.plain_seconds * np.array(growth.totals) / [*times.steps(growth)]


def _most_tokens(found: Sequence[tuple[Growth, np.ndarray]], least: float) -> Tree:
    """The tree with the most expected tokens among those with a speed-up of at least `least`."""
    fits = [
        (growth.totals[n], growth, n + 1)
        for growth, speedups in found
        for n in np.flatnonzero(speedups >= least)
    ]
    _, growth, n = max(fits, key=lambda fit: fit[0])
    return growth.tree(int(n))


def speedup_grid(
    acceptance: Acceptance, profile: HardwareProfile, sizes: Sequence[int], levels: Sequence[int]
) -> SpeedupGrid:
    """The plan with the best tree of each size, for each maximum number of levels. The vector is
    smoothed as in `best_plan`. Raises BadTree for a size or level limit outside 1 to MAX_NODES."""
    sizes = tuple(whole(n, "size", 1, MAX_NODES, BadTree) for n in sizes)
    levels = tuple(whole(cap, "levels", 1, MAX_NODES, BadTree) for cap in levels)
    acceptance = acceptance.smoothed()
    rows = []
    for cap in levels:
        growth = best_first(acceptance, max(sizes, default=1) if cap > 1 else 1, cap)
        rows.append(
            tuple(
                predict(growth.tree(n), acceptance, profile) if n <= len(growth) else None
                for n in sizes
            )
        )
    return SpeedupGrid(levels, sizes, tuple(rows))
