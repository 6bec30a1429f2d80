"""Measures acceptance: counts how often each child is accepted while the engine decodes prompts,
by the child's rank (a node's first child has rank 0) and by the depth of the node.

Planning a tree assumes that the acceptance rate depends on the rank alone (paper: section 3.1). The
counts by level show where the assumption fails.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.progress import Progress, progress_of_part, with_progress
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace, emitted_tokens, repetition
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadAcceptance
from sequoia.models.pair import Pair

# -- counts by rank and level ----------------------------------------------------------------------


Z = 1.959964  # 95% of a normal distribution is within this many standard deviations of the mean
SIGNIFICANCE = 0.05  # corrected p-values below this reject the assumption
LEAST = 5.0  # below this expected count, the normal approximation is too poor


@dataclass(frozen=True)
class Counts:
    """Counts for one depth and rank. visits: nodes of this depth that were on a step's accepted
    path and had a child of this rank. accepted: how many of these children were accepted. In
    teacher-forced counts (acceptance_teacher_forced.py), visits are positions of the text, and
    accepted is a sum of probabilities."""

    visits: int = 0
    accepted: float = 0

    @property
    def rate(self) -> float:
        return self.accepted / self.visits if self.visits else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.accepted, self.visits)

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.visits + other.visits, self.accepted + other.accepted)


@dataclass(frozen=True)
class AcceptanceByLevel:
    """Counts by (depth of the node, rank of the child), both from 0."""

    cells: Mapping[tuple[int, int], Counts] = field(default_factory=dict)

    @classmethod
    def fold(cls, traces: Iterable[StepTrace]) -> AcceptanceByLevel:
        """Counts of all steps. A node without a child of rank k is not counted for rank k."""
        cells: dict[tuple[int, int], Counts] = {}
        for trace in traces:
            onward = set(trace.verdict.path)
            for depth, node in enumerate(trace.verdict.path):
                for rank, child in enumerate(trace.tree.children[node]):
                    cells[depth, rank] = cells.get((depth, rank), Counts()) + Counts(
                        1, int(child in onward)
                    )
        return cls(cells)

    def __add__(self, other: AcceptanceByLevel) -> AcceptanceByLevel:
        none = Counts()
        keys = self.cells.keys() | other.cells.keys()
        return AcceptanceByLevel(
            {key: self.cells.get(key, none) + other.cells.get(key, none) for key in keys}
        )

    @property
    def depths(self) -> int:
        return 1 + max((depth for depth, _ in self.cells), default=-1)

    @property
    def ranks(self) -> int:
        return 1 + max((rank for _, rank in self.cells), default=-1)

    def by_rank(self, rank: int, but: int | None = None) -> Counts:
        """The counts of `rank` summed over all depths, except depth `but`."""
        return sum(
            (cell for (depth, k), cell in self.cells.items() if k == rank and depth != but),
            Counts(),
        )


def counting_tree(ranks: int, width: int, levels: int) -> Tree:
    """A tree for counting acceptance by level, with `levels` levels including the root. If there
    are at least two, the root has `ranks` children. On each level between the root and the last
    level, the first `width` nodes of every group of siblings have `width` children each. The
    remaining siblings have none."""
    parents = [-1]
    level = [0]
    for children in [ranks, *[width] * (levels - 2)][: levels - 1]:
        first = len(parents)
        parents += [node for node in level for _ in range(children)]
        level = [node for node in range(first, len(parents)) if (node - first) % children < width]
    return Tree.from_parents(parents)


@dataclass(frozen=True)
class DepthTest:
    """Whether the counts are consistent with rates that depend on the rank alone. `holds` is None
    if the counts are too few to decide.

    compared: number of cells tested. Each test compares a cell with the cells of the same rank at
    all other depths. depth, rank: the cell whose test has the smallest p-value. here: the counts of
    this cell. elsewhere: the counts that it was compared with. p_value: Bonferroni-corrected for
    all tests.
    """

    holds: bool | None
    compared: int
    depth: int = 0
    rank: int = 0
    here: Counts = Counts()
    elsewhere: Counts = Counts()
    p_value: float = 1.0


def depth_test(by_level: AcceptanceByLevel) -> DepthTest:
    """Compare each cell with the cells of the same rank at all other depths, by two-proportion
    tests with Bonferroni's correction. Cells with too few counts are left out."""
    found = []
    for (depth, rank), here in sorted(by_level.cells.items()):
        elsewhere = by_level.by_rank(rank, but=depth)
        if _enough(here, elsewhere):
            found.append((_p_value(here, elsewhere), depth, rank, here, elsewhere))
    if not found:
        return DepthTest(None, 0)
    smallest, depth, rank, here, elsewhere = min(found, key=lambda one: one[0])
    corrected = min(1.0, smallest * len(found))
    holds = corrected >= SIGNIFICANCE
    return DepthTest(holds, len(found), depth, rank, here, elsewhere, corrected)


def _enough(a: Counts, b: Counts) -> bool:
    if not a.visits or not b.visits:
        return False
    pooled = (a + b).rate
    return all(min(cell.visits * pooled, cell.visits * (1 - pooled)) >= LEAST for cell in (a, b))


def _p_value(a: Counts, b: Counts) -> float:
    """The probability that `a` and `b` differ at least this much if both have the same true rate
    (two-sided, normal approximation)."""
    pooled = (a + b).rate
    deviation = math.sqrt(pooled * (1 - pooled) * (1 / a.visits + 1 / b.visits))
    return math.erfc(abs(a.rate - b.rate) / deviation / math.sqrt(2))


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """(low, high): the 95% confidence interval of a rate (Wilson, 1927). (0, 1) without trials."""
    if not trials:
        return 0.0, 1.0
    rate = successes / trials
    square = Z * Z
    middle = (rate + square / (2 * trials)) / (1 + square / trials)
    half = (
        Z
        / (1 + square / trials)
        * math.sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials))
    )
    low = max(0.0, middle - half)
    high = min(1.0, middle + half)
    # at rates of 0 and 1, rounding could leave the rate itself just outside the interval
    return min(low, rate), max(high, rate)


# -- counted while decoding ------------------------------------------------------------------------


@dataclass(frozen=True)
class CountedAcceptance:
    """Acceptance counts: at `accepted[k]` of `visited` roots, child k was accepted. repetition: the
    share of repeated 8-grams in the text, 0 to 1, averaged over prompts. by_level: the counts at
    nodes of every depth.

    Teacher-forced counts (acceptance_teacher_forced.py) are sums of probabilities, not whole
    numbers, and every position of the text counts as a root. Their intervals are too wide: a
    probability varies less than a count of 0 or 1.
    """

    accepted: tuple[float, ...]
    visited: int
    repetition: float
    by_level: AcceptanceByLevel = field(default_factory=AcceptanceByLevel)

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """95% confidence interval of each rate (Wilson), as if visited nodes were independent."""
        return tuple(wilson(count, self.visited) for count in self.accepted)

    @property
    def acceptance(self) -> Acceptance:
        if not self.visited:
            raise BadAcceptance(
                "no acceptance rate: 0 nodes with children were visited, at least 1 is needed; "
                "decode more tokens with a tree of at least 2 levels"
            )
        return Acceptance(tuple(count / self.visited for count in self.accepted))


def count_acceptance(
    pair: Pair,
    prompts: Iterable[str],
    params: SamplingParams,
    *,
    ranks: int = 16,
    verifier: str = DEFAULT_VERIFIER,
    tree: Tree | None = None,
    progress: Progress = lambda _: None,
) -> CountedAcceptance:
    """Count acceptance while decoding at most `params.max_new_tokens` tokens after each prompt.
    Steps use `tree`, by default a root with `ranks` children. At the end of a run, the tree is cut
    to as many levels as there are tokens left to decode. To count by level, use a tree from
    `counting_tree`. The rates are those of the root's children, because
    deeper nodes seldom have that many children."""
    prompts = list(prompts)
    tree = tree or Tree.from_branching([ranks])
    by_level = AcceptanceByLevel()
    repeated = []
    visited = 0
    for done, prompt in enumerate(prompts):
        steps = run(Decoder(pair, prompt, params.further(done), tree, verifier))
        traces = with_progress(
            steps, params.max_new_tokens, progress_of_part(progress, done, len(prompts))
        )
        by_level += AcceptanceByLevel.fold(traces)
        # all steps, also those for which the draft had nothing; the last has no room for children
        # if one token was left
        visited += len(traces) - (len(traces[-1].tree) == 1)
        repeated.append(repetition(emitted_tokens(traces)))
    root = [by_level.cells.get((0, rank), Counts()) for rank in range(len(tree.children[0]))]
    return CountedAcceptance(
        tuple(cell.accepted for cell in root),
        visited if root else 0,
        statistics.fmean(repeated),
        by_level,
    )
