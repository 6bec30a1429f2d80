"""A hardware profile adjusted to one run. For the run's tree, it predicts the measured time of each
phase of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import TimeBreakdown
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.planning.simulated_step_times import phases

_TINY = 1e-12  # seconds: the shortest pass that a profile accepts


def calibrated(costs: TimeBreakdown, tree: Tree, profile: HardwareProfile) -> HardwareProfile:
    """`profile` adjusted so that each phase of a step with `tree` takes as long as in `costs`.

    All draft times are multiplied by one factor. Part of the overhead of a step becomes
    `level_overhead`. The curves `target_seconds` and (for the rest) `overhead_seconds` get new
    values at two sizes: from the run's step at len(tree) nodes, and from a plain token at 1 node.
    Between these sizes, a curve keeps the profile's shape. Beyond len(tree), the profile's values
    are multiplied by the factor found at len(tree). If the value of the plain token is larger than
    that of the step (usually noise), that of the step is used at 1 node too.
    """
    step = costs.step
    drafting = phases(tree, profile)["draft"]
    scale = step.draft / drafting if drafting else 1.0
    n = len(tree)
    level = _level_overhead(tree, profile, step.overhead, costs.rest)
    nodes_overhead = max(step.overhead - level * len(tree.widths), 0.0)
    return replace(
        profile,
        target_seconds=_pinned(
            profile.verify_seconds, profile.target_seconds, costs.token.verify, step.verify, n
        ),
        level_overhead=level,
        overhead_seconds=_pinned(
            profile.overhead, profile.overhead_seconds, costs.rest, nodes_overhead, n
        ),
        draft_seconds=scaled(profile.draft_seconds, scale),
    )


def _level_overhead(tree: Tree, profile: HardwareProfile, measured: float, rest: float) -> float:
    """Overhead per drafted level, in seconds. A level has the same share of the `measured` overhead
    as in the profile. All levels together take at most `measured` - `rest`, because a plain token
    needs `rest` without any level. rest: the time of a plain token outside the target's pass."""
    drafted = len(tree.widths)
    predicted = phases(tree, profile)["overhead"]
    if not drafted or not predicted:  # a level has no share that could be scaled
        return profile.level_overhead
    return min(measured * profile.level_overhead / predicted, max(measured - rest, 0.0) / drafted)


def _pinned(
    seconds_at: Callable[[int], float], points: Iterable[Point], one: float, many: float, n: int
) -> tuple[Point, ...]:
    """The curve `seconds_at` (size to seconds), changed to pass through (1, one) and (n, many).
    Returns its points at 1, at n and at the sizes of `points`. If `one` is larger than `many`, it
    is lowered to `many`."""
    one = min(one, many)
    first = seconds_at(1)
    last = seconds_at(n)
    pinned = []
    for size in sorted({1, n, *(size for size, _, _ in points)}):
        if size >= n:
            seconds = many * (seconds_at(size) / last) if last else many
        else:
            rise = last - first
            share = (seconds_at(size) - first) / rise if rise else (size - 1) / (n - 1)
            seconds = one + (many - one) * share
        pinned.append((size, seconds, 0.0))
    return tuple(pinned)


def scaled(points: Iterable[Point], factor: float) -> tuple[Point, ...]:
    """The curve through `points` with all times and their spread multiplied by `factor`."""
    return tuple(
        (size, max(seconds * factor, _TINY), spread * factor) for size, seconds, spread in points
    )
