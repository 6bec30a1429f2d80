"""A hardware profile adjusted to one run, so that the predicted step time for the tree in use
equals the measured one in each phase."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import per_step, per_token
from sequoia.planning.explain_plan import phases
from sequoia.planning.hardware_profile import HardwareProfile, Point

_TINY = 1e-12  # seconds: the shortest pass that a profile accepts


def calibrated(
    stats: DecodeStats, tree: Tree, plain: DecodeStats, profile: HardwareProfile
) -> HardwareProfile:
    """`profile` adjusted so that each phase of a step with `tree` takes as long as in a mean step
    of `stats`.

    All draft passes are scaled by one factor. The curves of the target pass, and of the overhead
    that is not due to levels, are fixed at two points: at 1 node to the value of `plain`, and at
    len(tree) to the value of `stats`. Between these points they keep the profile's shape. The
    profile's points beyond len(tree) are scaled by the factor found there. No pass gets faster with
    more nodes: if the value of `plain` is the larger one (usually noise), that of `stats` is used
    at 1 node too.
    """
    step = per_step(stats, "the run")
    token = per_token(plain)
    drafting = phases(tree, profile)["draft"]
    scale = step["draft"] / drafting if drafting else 1.0
    n = len(tree)
    rest = token["draft"] + token["overhead"]
    level = _level_overhead(tree, profile, step["overhead"], rest)
    nodes_overhead = max(step["overhead"] - level * len(tree.widths), 0.0)
    return replace(
        profile,
        target_seconds=_pinned(
            profile.verify_seconds, profile.target_seconds, token["verify"], step["verify"], n
        ),
        level_overhead=level,
        overhead_seconds=_pinned(
            profile.overhead, profile.overhead_seconds, rest, nodes_overhead, n
        ),
        draft_seconds=scaled(profile.draft_seconds, scale),
    )


def _level_overhead(tree: Tree, profile: HardwareProfile, measured: float, rest: float) -> float:
    """Overhead per drafted level, in seconds. A level has the same share of the `measured` overhead
    as in the profile. All levels together take at most `measured` - `rest`. rest: the time that a
    plain token takes besides the target's pass."""
    drafted = len(tree.widths)
    predicted = phases(tree, profile)["overhead"]
    if not drafted or not predicted:  # a level has no share that could be scaled
        return profile.level_overhead
    return min(measured * profile.level_overhead / predicted, max(measured - rest, 0.0) / drafted)


def _pinned(
    seconds_at: Callable[[int], float], points: Iterable[Point], one: float, many: float, n: int
) -> tuple[Point, ...]:
    """The curve `seconds_at` (size to seconds) at the sizes of `points` and at 1 and n, changed to
    pass through (1, one) and (n, many). `one` is lowered to `many` if it is larger."""
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
