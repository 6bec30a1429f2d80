"""The slow-down doctor: what costs a measured run most of its speed-up, and which changes
are predicted to help.

Measures nothing. Predictions are made by the planner on a machine and a vector *calibrated* to
the run (`calibrated`, `fitted`), so that what is predicted of the tree in use is what was
measured of it, phase by phase. The further a remedy is from that tree, the more its prediction
leans on the profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree, expected_tokens, scores
from sequoia.algorithm.step_trace import DecodeStats
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.diagnosis.speedup_interval import SpeedupInterval
from sequoia.diagnosis.where_time_went import per_step, per_token
from sequoia.errors import BadTree
from sequoia.planning.explain_plan import knee, phases, size_words, time_words
from sequoia.planning.fit_acceptance import fitted
from sequoia.planning.hardware_profile import HardwareProfile, Point
from sequoia.planning.plan_for_machine import Plan, best_plan, predict
from sequoia.validate_input import number

# A well matched pair, to call acceptance low: Llama3-70B-Instruct with 8B-Instruct on CNN (paper:
# appendix E), its first rates.
WELL_MATCHED = Acceptance((0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043))
_COSTS = 1.005  # a loss must cost more than this ratio to be told
# of a prediction from a quick profile, about; a remedy must promise more than this share
_UNSURE = 0.05
_WHAT_IF = "predicted, what if"
_TINY = 1e-12  # seconds, the least a profile takes


@dataclass(frozen=True)
class Loss:
    """One thing that costs speed-up: "acceptance", "draft", "verify" or "overhead". `without`: the
    speed-up of the same run without this loss and with all others, computed from measured times."""

    name: str
    without: float
    sentence: str


@dataclass(frozen=True)
class Remedy:
    """A change, its predicted speed-up over plain decoding, and `gain`, the points
    above the measured one.

    tree: what a button can apply; None where one click cannot (another draft, target or device).
    label: "predicted", "predicted, what if" where a model is supposed that is not there, or
    "measured" (plain decoding).
    """

    words: str
    predicted: float
    gain: float
    tree: Tree | None = None
    label: str = "predicted"

    @property
    def applicable(self) -> bool:
        return self.tree is not None

    @property
    def sentence(self) -> str:
        return f"{self.words}: {self.predicted:.2f}× ({self.label}), {self.gain:.2f} above now."


@dataclass(frozen=True)
class Diagnosis:
    """speedup: measured, over the plain run; `interval`: its range, where it is known. losses: the
    largest first. remedies: those predicted beyond `noise`, a speed-up that chance alone could
    show, the greatest first. unclear: those predicted to help, but not beyond it."""

    speedup: float
    losses: tuple[Loss, ...]
    remedies: tuple[Remedy, ...]
    noise: float
    unclear: tuple[Remedy, ...] = ()
    interval: SpeedupInterval | None = None

    @property
    def largest_loss(self) -> str | None:
        """Name of the largest loss; None where the run loses nothing to speak of."""
        return self.losses[0].name if self.losses else None

    @property
    def slow(self) -> bool:
        """Whether the run is slower than plain decoding, beyond its range where that is known."""
        return self.interval.verdict == "slower" if self.interval else self.speedup < 1

    @property
    def sentence(self) -> str:
        """The speed-up, the largest loss and the first remedy that one click applies."""
        words = f"{self._measured}{': slower than without drafts' * self.slow}."
        if self.losses:
            words += f" Largest loss: {self.losses[0].sentence}"
        first = next((remedy for remedy in self.remedies if remedy.applicable), None)
        if first is None:
            return f"{words} {self._none}"
        return (
            f"{words} {first.sentence} What is predicted below {self.noise:.2f}× is left out: "
            "it could be chance."
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
    def _none(self) -> str:
        """That no tree is offered, and why."""
        if not self.unclear:
            return "No other tree is predicted to be faster."
        best = max(remedy.predicted for remedy in self.unclear)
        changes = (
            f"{len(self.unclear)} changes are predicted to help, the best"
            if len(self.unclear) > 1
            else ("one change is predicted to help,")
        )
        return (
            f"No other tree is recommended: {changes} to {best:.2f}×, but up to {self.noise:.2f}× "
            "it could be chance."
        )


def diagnose(
    stats: DecodeStats,
    tree: Tree,
    plain: DecodeStats,
    acceptance: Acceptance,
    profile: HardwareProfile,
    others: Iterable[HardwareProfile] = (),
    interval: SpeedupInterval | None = None,
) -> Diagnosis:
    """What slows the run `stats` with `tree` against the run `plain`, and what is predicted to
    help.

    For a run whose trees change, pass `typical_tree` of their mean size. others: profiles of other
    devices; they cannot be calibrated by this run. interval: the range of the run's speed-up; a
    change predicted within it is not recommended, nor one within a quick profile's own uncertainty.
    Raises BadTrace where either run has no step, token or time.
    """
    diagnosed = _DiagnosedRun(stats, tree, plain, acceptance, profile)
    losses = (loss for loss in diagnosed.losses() if loss.without > diagnosed.speedup * _COSTS)
    noise = max(diagnosed.speedup * (1 + _UNSURE), interval.most if interval else 0.0)
    helping = diagnosed.remedies(others)
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
    """A tree to stand for many: the best one of about `nodes` nodes (a mean) on about `levels`
    levels; only where all had one node, one of one node. Raises BadTree."""
    size, cap = (
        max(round(number(value, what, 1, MAX_NODES, BadTree)), 1 + (nodes > 1))
        for what, value in (("nodes", nodes), ("levels", levels))
    )
    return best_tree(acceptance.smoothed(), size, cap)


# -- calibration -----------------------------------------------------------------------------------


def calibrated(
    stats: DecodeStats, tree: Tree, plain: DecodeStats, profile: HardwareProfile
) -> HardwareProfile:
    """`profile` bent so that a step with `tree` takes, phase by phase, what a mean
    step of `stats` took.

    Draft passes are scaled alike. Of the overhead, levels keep the share that the profile gives
    them. Target passes and the rest of the overhead go through the plain run's point at 1 node and
    the run's at len(tree); in between they keep the profile's shape, and beyond they are scaled as
    at len(tree). A plain token that was measured slower than a step (noise, mostly) counts as the
    step there, since no pass gets faster with more nodes.
    """
    step = per_step(stats, "the run")
    token = per_token(plain)
    drafting = phases(tree, profile)["draft"]
    scale = step["draft"] / drafting if drafting else 1.0
    n = len(tree)
    rest = token["draft"] + token["overhead"]
    level = _level_overhead(tree, profile, step["overhead"], rest)
    target = {size: profile.verify_seconds(size) for size in _sizes(profile.target_seconds, n)}
    overhead = {size: profile.overhead(size) for size in _sizes(profile.overhead_seconds, n)}
    return replace(
        profile,
        target_seconds=_pinned(target, token["verify"], step["verify"], n),
        level_overhead=level,
        overhead_seconds=_pinned(
            overhead, rest, max(step["overhead"] - level * len(tree.widths), 0.0), n
        ),
        draft_seconds=tuple(
            (size, max(seconds * scale, _TINY), interval)
            for size, seconds, interval in profile.draft_seconds
        ),
    )


def _level_overhead(tree: Tree, profile: HardwareProfile, measured: float, rest: float) -> float:
    """Seconds of the `measured` overhead for each level that was drafted from: its predicted share,
    but no part of `rest`, which a plain token has too."""
    drafted = len(tree.widths)
    predicted = phases(tree, profile)["overhead"]
    if not drafted or not predicted:  # the run says nothing of it
        return profile.level_overhead
    return min(measured * profile.level_overhead / predicted, max(measured - rest, 0.0) / drafted)


def _sizes(points: Iterable[Point], n: int) -> list[int]:
    return sorted({1, n, *(size for size, _, _ in points)})


def _pinned(line: Mapping[int, float], one: float, many: float, n: int) -> tuple[Point, ...]:
    """Points of `line` (size to seconds, with 1 and n among them) bent to pass through
    (1, one) and (n, many)."""
    one = min(one, many)
    rise = line[n] - line[1]
    points = []
    for size, seconds in line.items():
        if size >= n:
            points.append((size, many * (seconds / line[n]) if line[n] else many, 0.0))
        else:
            points.append(
                (
                    size,
                    one
                    + (many - one) * ((seconds - line[1]) / rise if rise else (size - 1) / (n - 1)),
                    0.0,
                )
            )
    return tuple(points)


# -- losses and remedies ---------------------------------------------------------------------------


class _DiagnosedRun:
    """One case: the run, its tree, and the machine and vector calibrated to it."""

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
        """Every loss with the speed-up that its absence would give."""
        step = self.step
        token = self.token
        share = self.tokens * self.plain
        rest = token["draft"] + token["overhead"]
        good = max(expected_tokens(self.tree, WELL_MATCHED), self.tokens)
        yield Loss(
            "acceptance",
            good * self.plain / self.seconds,
            (
                f"low acceptance, {self.tokens:.2f} tokens a step, measured; this tree would make "
                f"{good:.2f} with the acceptance of a well matched pair "
                f"({WELL_MATCHED.rates[0]:.2f} for the first child, paper)."
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
                f"overhead, {time_words(step['overhead'])} a step against {time_words(rest)} for a "
                "plain token, measured."
            ),
        )

    def _verify_words(self) -> str:
        limit = knee(self.profile)
        n = len(self.tree)
        words = (
            f"verifying, {self.step['verify'] / self.token['verify']:.2f} times a plain "
            "token's pass, measured"
        )
        return words + (
            f"; {n} nodes are beyond the knee at {limit} (predicted)."
            if limit and n >= limit
            else "."
        )

    def remedies(self, others: Iterable[HardwareProfile]) -> tuple[Remedy, ...]:
        """Those predicted to help at all, by speed-up; each tree once, under its plainest name, and
        never the one in use."""
        found: dict[object, Remedy] = {}
        for remedy in (*self.trees(), *self.what_ifs(), *self.devices(others)):
            if remedy.predicted > self.speedup and remedy.tree != self.tree:
                found.setdefault(remedy.tree or remedy.words, remedy)
        return tuple(sorted(found.values(), key=attrgetter("predicted"), reverse=True))

    def trees(self) -> Iterator[Remedy]:
        """What one click can apply."""
        yield Remedy("Plain decoding", 1.0, 1 - self.speedup, Tree.chain(1), "measured")
        fastest = best_plan(self.acceptance, self.profile).tree
        yield self._apply(f"The fastest tree predicted, {size_words(fastest)}", fastest)
        for what, trees in (
            ("A smaller tree of its kind", smaller(self.tree, self.acceptance)),
            ("Fewer levels", [self.tree.limit(levels) for levels in range(2, self.tree.levels)]),
        ):
            if trees:
                best = max(trees, key=lambda tree: self._speedup(self._predict(tree)))
                yield self._apply(f"{what}, {size_words(best)}", best)

    def what_ifs(self) -> Iterator[Remedy]:
        """The tree in use with models that are not there."""
        quick = replace(self.profile, draft_seconds=_times(self.profile.draft_seconds, 0.5))
        large = replace(self.profile, target_seconds=_times(self.profile.target_seconds, 2.0))
        yield self._suppose(
            "A smaller draft: half the time, the same acceptance",
            self._speedup(predict(self.tree, self.acceptance, quick)),
            _WHAT_IF,
        )
        plan = predict(self.tree, self.acceptance, large)
        more_expensive = self.plain + self.token["verify"]
        yield self._suppose(
            "A larger target: twice the time, the same acceptance",
            plan.expected_tokens * more_expensive / plan.predicted_seconds,
            _WHAT_IF,
        )

    def devices(self, others: Iterable[HardwareProfile]) -> Iterator[Remedy]:
        """The tree planned for each other device, on that device."""
        for other in others:
            plan = best_plan(self.acceptance, other)
            yield self._suppose(
                f"On {other.device} ({other.target} with {other.draft}, {other.source} profile), "
                f"{size_words(plan.tree)}",
                plan.predicted_speedup,
            )

    def _predict(self, tree: Tree) -> Plan:
        return predict(tree, self.acceptance, self.profile)

    def _speedup(self, plan: Plan) -> float:
        """Over the plain token that was measured."""
        return plan.expected_tokens * self.plain / plan.predicted_seconds

    def _apply(self, words: str, tree: Tree) -> Remedy:
        speedup = self._speedup(self._predict(tree))
        return Remedy(words, speedup, speedup - self.speedup, tree)

    def _suppose(self, words: str, speedup: float, label: str = "predicted") -> Remedy:
        return Remedy(words, speedup, speedup - self.speedup, None, label)


def smaller(tree: Tree, acceptance: Acceptance) -> list[Tree]:
    """Smaller trees of the shape family of `tree`, without a level less where it branches.

    Where all nodes of a level have as many children: the same with fewer
    (k sequences stay sequences), and a chain gets shorter. Any other tree loses its least promising
    nodes: its n best ones for every smaller n.
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
    """The `n` nodes of `tree` with the best scores; equals keep their order, so parents and
    elder siblings stay."""
    weights = scores(tree, acceptance.smoothed())
    kept = sorted(sorted(range(len(tree)), key=lambda node: -weights[node])[:n])
    place = {node: i for i, node in enumerate(kept)}
    return Tree((-1, *(place[tree.parents[node]] for node in kept[1:])))


def _times(points: Iterable[Point], factor: float) -> tuple[Point, ...]:
    return tuple(
        (size, max(seconds * factor, _TINY), interval) for size, seconds, interval in points
    )
