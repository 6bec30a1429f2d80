"""What to try on a run: what costs it most of its speed-up, and which changes are predicted to
help.

Measures nothing. The planner predicts with a profile and an acceptance vector *calibrated* to the
run (`calibrated`, `fitted`), so that its prediction for the tree in use equals the measurement,
phase by phase. The more a change differs from that tree, the more its prediction depends on the
profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree, expected_tokens, scores
from sequoia.algorithm.step_trace import DecodeStats, require_one_clock
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.diagnosis.speedup_interval import SpeedupInterval
from sequoia.diagnosis.where_time_went import per_step, per_token
from sequoia.errors import BadTree
from sequoia.planning.explain_plan import knee, phases, size_words, time_words
from sequoia.planning.fit_acceptance import fitted
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.planning.plan_for_machine import best_plan, predict
from sequoia.validate_input import number

# The first rates of a well-matched pair, Llama3-70B-Instruct with 8B-Instruct on CNN (paper:
# appendix E). Acceptance is called low in comparison with it.
WELL_MATCHED = Acceptance((0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043))
# a loss is listed if the speed-up without it would be more than this ratio higher
_MIN_LOSS_RATIO = 1.005
_UNSURE = 0.05  # relative error, roughly, of a prediction from a quick profile
_WHAT_IF = "predicted, what if"
_TINY = 1e-12  # seconds, the least a profile takes


@dataclass(frozen=True)
class Loss:
    """One thing that costs speed-up: "acceptance", "draft", "verify" or "overhead". without: the
    speed-up of the same run without this loss but with all others, computed from measured times."""

    name: str
    without: float
    sentence: str


@dataclass(frozen=True)
class Remedy:
    """A change, its predicted speed-up over plain decoding, and `gain`, the difference from the
    measured one.

    tree: what a button can apply; None for a change of the models. label: "predicted", "predicted,
    what if" for a hypothetical model, or "measured" (plain decoding).
    """

    words: str
    predicted: float
    gain: float
    tree: Tree | None = None
    label: str = "predicted"

    @property
    def sentence(self) -> str:
        return f"{self.words}: {self.predicted:.2f}× ({self.label}), {self.gain:.2f} more than now."


@dataclass(frozen=True)
class Diagnosis:
    """speedup: measured, over the plain run. interval: its confidence interval, if known. losses:
    the largest first. noise: a speed-up up to this could be due to chance. remedies: changes
    predicted above `noise`, the best first. unclear: changes predicted to help, but not above it.
    """

    speedup: float
    losses: tuple[Loss, ...]
    remedies: tuple[Remedy, ...]
    noise: float
    unclear: tuple[Remedy, ...] = ()
    interval: SpeedupInterval | None = None

    @property
    def largest_loss(self) -> str | None:
        """Name of the largest loss; None if there is none worth mentioning."""
        return self.losses[0].name if self.losses else None

    @property
    def slow(self) -> bool:
        """Whether the run is slower than plain decoding, significantly so if its interval is
        known."""
        return self.interval.verdict == "slower" if self.interval else self.speedup < 1

    @property
    def sentence(self) -> str:
        """The speed-up, the largest loss and the best remedy that one click can apply."""
        words = f"{self._measured}{': slower than without drafts' * self.slow}."
        if self.losses:
            words += f" Largest loss: {self.losses[0].sentence}"
        first = next((remedy for remedy in self.remedies if remedy.tree), None)
        if first is None:
            return f"{words} {self._no_tree_sentence}"
        return f"{words} {first.sentence}{self._left_out}"

    @property
    def _left_out(self) -> str:
        """Why `unclear` changes are not listed; "" if there are none."""
        if not self.unclear:
            return ""
        return (
            f" Changes predicted at {self.noise:.2f}× or less are not listed: the difference could "
            "be measurement or prediction error."
        )

    @property
    def _measured(self) -> str:
        if self.interval is None:
            return f"{self.speedup:.2f}× plain decoding, measured"
        even = ": no clear difference" * (self.interval.verdict == "even")
        return (
            f"{self.speedup:.2f}× plain decoding "
            f"({self.interval.least:.2f}–{self.interval.most:.2f}), measured{even}"
        )

    @property
    def _no_tree_sentence(self) -> str:
        """That no tree is recommended, and why."""
        if not self.unclear:
            return "No other tree is predicted to be faster."
        best = max(remedy.predicted for remedy in self.unclear)
        return (
            f"No other tree is recommended: the best prediction left ({best:.2f}×) is within this "
            f"run's noise (up to {self.noise:.2f}×)."
        )


def diagnose(
    stats: DecodeStats,
    tree: Tree,
    plain: DecodeStats,
    acceptance: Acceptance,
    profile: HardwareProfile,
    interval: SpeedupInterval | None = None,
) -> Diagnosis:
    """What slows the run `stats` with `tree` compared with the run `plain`, and what is predicted
    to help.

    For a run whose trees change, pass `typical_tree` of their mean size. interval: of the run's
    speed-up; a change predicted within it is not recommended, nor one within the uncertainty of a
    quick profile. Raises BadTrace if a run has no step, token or time, or if the times of only one
    are simulated.
    """
    require_one_clock(stats, plain)
    diagnosed = _DiagnosedRun(stats, tree, plain, acceptance, profile)
    listed = diagnosed.speedup * _MIN_LOSS_RATIO
    losses = (loss for loss in diagnosed.losses() if loss.without > listed)
    noise = max(diagnosed.speedup * (1 + _UNSURE), interval.most if interval else 0.0)
    helping = diagnosed.remedies()
    clear = tuple(remedy for remedy in helping if remedy.predicted > noise)
    unclear = tuple(remedy for remedy in helping if remedy.predicted <= noise)
    return Diagnosis(
        diagnosed.speedup,
        tuple(sorted(losses, key=attrgetter("without"), reverse=True)),
        clear,
        noise,
        unclear,
        interval,
    )


def typical_tree(nodes: float, levels: float, acceptance: Acceptance) -> Tree:
    """One tree to represent many: the best of about `nodes` nodes (their mean) on about `levels`
    levels. It has a single node only if all of them did. Raises BadTree."""
    size, cap = (
        max(round(number(value, what, 1, MAX_NODES, BadTree)), 1 + (nodes > 1))
        for what, value in (("nodes", nodes), ("levels", levels))
    )
    return best_tree(acceptance.smoothed(), size, cap)


# -- calibration -----------------------------------------------------------------------------------


def calibrated(
    stats: DecodeStats, tree: Tree, plain: DecodeStats, profile: HardwareProfile
) -> HardwareProfile:
    """`profile` adjusted so that a step with `tree` takes as long, phase by phase, as a mean step
    of `stats`.

    Draft passes are all scaled by one factor. Levels keep the share of the overhead that the
    profile gives them. The curves for target passes and for the remaining overhead are fixed at two
    points: the plain run's value at 1 node and this run's value at len(tree). Between these they
    keep the profile's shape, and beyond len(tree) they are scaled as at len(tree). If either time
    was measured longer for a plain token than for a step (usually noise), the step's value is used
    at 1 node too, because no pass gets faster with more nodes.
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
        draft_seconds=_scaled(profile.draft_seconds, scale),
    )


def _level_overhead(tree: Tree, profile: HardwareProfile, measured: float, rest: float) -> float:
    """Overhead per drafted level, in seconds: the profile's share of the `measured` overhead,
    capped so that the levels together take no more than the excess over `rest`, the overhead of a
    plain token."""
    drafted = len(tree.widths)
    predicted = phases(tree, profile)["overhead"]
    if not drafted or not predicted:  # the run contains no information about it
        return profile.level_overhead
    return min(measured * profile.level_overhead / predicted, max(measured - rest, 0.0) / drafted)


def _pinned(
    seconds_at: Callable[[int], float], points: Iterable[Point], one: float, many: float, n: int
) -> tuple[Point, ...]:
    """The curve `seconds_at` (size to seconds) at the sizes of `points`, 1 and n, changed to pass
    through (1, one) and (n, many)."""
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


# -- losses and remedies ---------------------------------------------------------------------------


class _DiagnosedRun:
    """The run, its tree, and the profile and acceptance vector calibrated to it."""

    def __init__(
        self,
        stats: DecodeStats,
        tree: Tree,
        plain: DecodeStats,
        acceptance: Acceptance,
        profile: HardwareProfile,
    ) -> None:
        self.tree = tree
        self.step = per_step(stats, "the run")
        self.token = per_token(plain)
        self.tokens = stats.tokens / stats.steps
        self.plain = sum(self.token.values())
        self.seconds = sum(self.step.values())
        self.speedup = self.tokens * self.plain / self.seconds
        self.profile = calibrated(stats, tree, plain, profile)
        self.acceptance = fitted(acceptance, tree, self.tokens)

    def losses(self) -> Iterator[Loss]:
        """Every loss, with the speed-up without it."""
        step = self.step
        token = self.token
        share = self.tokens * self.plain
        rest = token["draft"] + token["overhead"]
        good = max(expected_tokens(self.tree, WELL_MATCHED), self.tokens)
        yield Loss(
            "acceptance",
            good * self.plain / self.seconds,
            (
                f"low acceptance, {self.tokens:.2f} tokens per step, measured; with the acceptance "
                f"of a well-matched pair ({WELL_MATCHED.rates[0]:.2f} for the first child, paper) "
                f"this tree would give {good:.2f}."
            ),
        )
        yield Loss(
            "draft",
            share / (self.seconds - step["draft"]),
            (
                f"drafting, {time_words(step['draft'])} of a step's "
                f"{time_words(self.seconds)}, measured."
            ),
        )
        yield Loss(
            "verify",
            share / (self.seconds - max(step["verify"] - token["verify"], 0)),
            self._verify_words(),
        )
        yield Loss(
            "overhead",
            share / (self.seconds - max(step["overhead"] - rest, 0)),
            (
                f"overhead, {time_words(step['overhead'])} per step compared with "
                f"{time_words(rest)} for a plain token, measured."
            ),
        )

    def _verify_words(self) -> str:
        limit = knee(self.profile)
        n = len(self.tree)
        words = (
            f"verification, {self.step['verify'] / self.token['verify']:.2f} times a plain "
            "token's pass, measured"
        )
        return words + (
            f"; {n} nodes are beyond the knee at {limit} (predicted)."
            if limit and n >= limit
            else "."
        )

    def remedies(self) -> tuple[Remedy, ...]:
        """All that are predicted to help, the best first: each tree once, under its simplest name,
        and never the tree in use."""
        found: dict[object, Remedy] = {}
        for remedy in (*self.trees(), *self.what_ifs()):
            if remedy.predicted > self.speedup and remedy.tree != self.tree:
                found.setdefault(remedy.tree or remedy.words, remedy)
        return tuple(sorted(found.values(), key=attrgetter("predicted"), reverse=True))

    def trees(self) -> Iterator[Remedy]:
        """Changes that one click can apply."""
        yield Remedy("Plain decoding", 1.0, 1 - self.speedup, Tree.chain(1), "measured")
        fastest = best_plan(self.acceptance, self.profile).tree
        yield self._apply(f"The tree predicted to be fastest, {size_words(fastest)}", fastest)
        for what, trees in (
            ("A smaller tree of the same shape", smaller(self.tree, self.acceptance)),
            ("Fewer levels", [self.tree.limit(levels) for levels in range(2, self.tree.levels)]),
        ):
            if trees:
                best = max(trees, key=self._speedup)
                yield self._apply(f"{what}, {size_words(best)}", best)

    def what_ifs(self) -> Iterator[Remedy]:
        """The tree in use with hypothetical models."""
        quick = replace(self.profile, draft_seconds=_scaled(self.profile.draft_seconds, 0.5))
        large = replace(self.profile, target_seconds=_scaled(self.profile.target_seconds, 2.0))
        slower_plain = self.plain + self.token["verify"]
        for words, speedup in (
            (
                "A smaller draft: half the time, the same acceptance",
                self._speedup(self.tree, quick),
            ),
            (
                "A larger target: twice the time, the same acceptance",
                self._speedup(self.tree, large) * slower_plain / self.plain,
            ),
        ):
            yield Remedy(words, speedup, speedup - self.speedup, None, _WHAT_IF)

    def _speedup(self, tree: Tree, profile: HardwareProfile | None = None) -> float:
        """Predicted speed-up over the measured plain token."""
        plan = predict(tree, self.acceptance, profile or self.profile)
        return plan.expected_tokens * self.plain / plan.predicted_seconds

    def _apply(self, words: str, tree: Tree) -> Remedy:
        speedup = self._speedup(tree)
        return Remedy(words, speedup, speedup - self.speedup, tree)


def smaller(tree: Tree, acceptance: Acceptance) -> list[Tree]:
    """Smaller trees of the same shape as `tree`.

    If all nodes of a level have equally many children: the same levels with fewer children (k
    sequences stay sequences), and for a chain, shorter chains. For any other tree: its n best nodes
    for every smaller n.
    """
    branching = [
        {len(tree.children[node]) for node in range(len(tree)) if tree.depths[node] == depth}
        for depth in range(tree.levels - 1)
    ]
    if any(len(counts) > 1 for counts in branching):
        return [_pruned(tree, acceptance, n) for n in range(2, len(tree))]
    counts = [max(counts) for counts in branching]
    if max(counts, default=1) == 1:
        return [Tree.chain(n) for n in range(2, len(tree))]
    return [
        Tree.from_branching(min(count, most) for count in counts) for most in range(1, max(counts))
    ]


def _pruned(tree: Tree, acceptance: Acceptance, n: int) -> Tree:
    """The `n` nodes of `tree` with the best scores. Equal scores keep their order, so that no node
    is kept without its parent and earlier siblings."""
    weights = scores(tree, acceptance.smoothed())
    kept = sorted(sorted(range(len(tree)), key=lambda node: -weights[node])[:n])
    index = {node: i for i, node in enumerate(kept)}
    return Tree((-1, *(index[tree.parents[node]] for node in kept[1:])))


def _scaled(points: Iterable[Point], factor: float) -> tuple[Point, ...]:
    return tuple(
        (size, max(seconds * factor, _TINY), interval) for size, seconds, interval in points
    )
