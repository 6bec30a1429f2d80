"""How to make a run faster: what costs it speed-up, and which changes are predicted to help.

Nothing is measured here. Predictions use a hardware profile and an acceptance vector that are
*calibrated* to the run. So the prediction for the tree in use equals the measurement. The more
another tree differs from the tree in use, the more its prediction depends on the profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from operator import attrgetter

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_tokens import expected_tokens, fitted
from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.compare_runs import Speedup
from sequoia.diagnosis.where_time_went import time_breakdown
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.planning.plan_for_machine import best_plan, predict
from sequoia.planning.simulated_step_times import phases
from sequoia.saved_files.race_results import Diagnosis, Loss, Remedy, TimeBreakdown

# a loss is listed if the speed-up without it would be more than 0.5% higher
_MIN_LOSS_RATIO = 1.005
# approximate relative error of a prediction from a profile that was measured in a few seconds
_UNSURE = 0.05


def diagnose(
    stats: DecodeStats,
    tree: Tree,
    plain: DecodeStats,
    acceptance: Acceptance,
    profile: HardwareProfile,
    measured: Speedup | None = None,
) -> Diagnosis:
    """What costs speed-up in the run `stats` with `tree`, and what is predicted to help. plain: a
    run of plain decoding, the baseline of the speed-up.

    For a run whose trees change, pass their `typical_tree`. measured: the run's speed-up with its
    interval. A change is recommended only if its prediction lies above this interval, and above the
    measured speed-up by more than the error of predictions (`_UNSURE`). Raises BadTrace if a run
    has no step or token, if a time is out of range (target passes must take some time), or
    if the two runs were not timed by the same clock.
    """
    diagnosed = DiagnosedRun(stats, tree, plain, acceptance, profile)
    listed = diagnosed.speedup * _MIN_LOSS_RATIO
    losses = (loss for loss in diagnosed.losses() if loss.without > listed)
    noise = max(diagnosed.speedup * (1 + _UNSURE), (measured and measured.high) or 0.0)
    helping = diagnosed.remedies()
    clear = tuple(remedy for remedy in helping if remedy.predicted > noise)
    unclear = tuple(remedy for remedy in helping if remedy.predicted <= noise)
    return Diagnosis(
        diagnosed.costs,
        diagnosed.good_tokens,
        tuple(sorted(losses, key=attrgetter("without"), reverse=True)),
        clear,
        noise,
        unclear,
    )


def typical_tree(nodes: float, levels: float, acceptance: Acceptance) -> Tree:
    """One tree to represent many. nodes, levels: their mean numbers of nodes and levels. The result
    is the best tree of `nodes` nodes and at most `levels` levels, both rounded. It has a single
    node only if all the trees did."""
    size, cap = (max(round(mean), 1 + (nodes > 1)) for mean in (nodes, levels))
    return best_tree(acceptance.smoothed(), size, cap)


# The first rates of a well-matched pair, Llama3-70B-Instruct with 8B-Instruct on CNN (paper:
# appendix E). A run's acceptance is compared with this vector.
WELL_MATCHED = Acceptance((0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043))


class DiagnosedRun:
    """A run and its tree, with the profile and acceptance vector calibrated to the run.

    costs: of a mean step, and of a token of plain decoding. speedup: over plain decoding.
    """

    def __init__(
        self,
        stats: DecodeStats,
        tree: Tree,
        plain: DecodeStats,
        acceptance: Acceptance,
        profile: HardwareProfile,
    ) -> None:
        self.tree = tree
        self.costs = time_breakdown(stats, plain)
        self.speedup = self.costs.step.speedup
        self.profile = calibrated(self.costs, tree, profile)
        self.acceptance = fitted(acceptance, tree, self.costs.step.tokens)

    @property
    def good_tokens(self) -> float:
        """Tokens per step with the acceptance of a well-matched pair; at least those of the run."""
        return max(expected_tokens(self.tree, WELL_MATCHED), self.costs.step.tokens)

    def losses(self) -> Iterator[Loss]:
        """All losses, including those too small to be listed."""
        without = self.costs.without_losses(self.good_tokens)
        yield Loss("acceptance", without["tokens"])
        yield Loss("draft", without["draft"])
        yield Loss("verify", without["verify"])
        yield Loss("overhead", without["overhead"])

    def remedies(self) -> tuple[Remedy, ...]:
        """The remedies predicted to help, best first. If several remedies have the same tree, only
        the one that `trees` yields first is listed. The tree in use is left out."""
        found: dict[object, Remedy] = {}
        for remedy in (*self.trees(), *self.what_ifs()):
            if remedy.predicted > self.speedup and remedy.tree != self.tree:
                found.setdefault(remedy.tree or remedy.change, remedy)
        return tuple(sorted(found.values(), key=attrgetter("predicted"), reverse=True))

    def trees(self) -> Iterator[Remedy]:
        """Remedies that change only the tree."""
        yield Remedy("plain", 1.0, Tree.chain(1))
        best = best_plan(self.acceptance, self.profile).tree
        yield Remedy("fastest_tree", self._speedup(best, self.profile), best)

    def what_ifs(self) -> Iterator[Remedy]:
        """Remedies that keep the tree in use and assume hypothetical models: a draft that takes
        half the time or a target that takes twice the time, with the same acceptance."""
        draft = scaled(self.profile.draft_seconds, 0.5)
        target = scaled(self.profile.target_seconds, 2.0)
        faster_draft = replace(self.profile, draft_seconds=draft)
        slower_target = replace(self.profile, target_seconds=target)
        plain = self.costs.step.plain
        slower_plain = plain + self.costs.token.verify
        yield Remedy("smaller_draft", self._speedup(self.tree, faster_draft))
        speedup = self._speedup(self.tree, slower_target) * slower_plain / plain
        yield Remedy("larger_target", speedup)

    def _speedup(self, tree: Tree, profile: HardwareProfile) -> float:
        """Predicted speed-up of `tree` over the plain decoding of the run."""
        plan = predict(tree, self.acceptance, profile)
        return plan.expected_tokens * self.costs.step.plain / plan.predicted_seconds


# -- a profile adjusted to the run -----------------------------------------------------------------


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
