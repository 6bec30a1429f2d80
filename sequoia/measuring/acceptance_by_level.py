"""Acceptance by rank and level, counted from step traces: how often the child of rank k of a node
was accepted, by the depth of the node. A node's first child has rank 0.

Planning a tree assumes that the acceptance rate depends on the rank alone (paper: section 3.1).
These counts show where the assumption fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import Tree

Z = 1.959964  # 95% of a normal distribution is within this many standard deviations of the mean
SIGNIFICANCE = 0.05  # corrected p-values below this reject the assumption
LEAST = 5.0  # below this expected count, the normal approximation is too poor


@dataclass(frozen=True)
class Cell:
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

    def __add__(self, other: Cell) -> Cell:
        return Cell(self.visits + other.visits, self.accepted + other.accepted)


@dataclass(frozen=True)
class AcceptanceByLevel:
    """Cells by (depth of the node, rank of the child), both from 0."""

    cells: Mapping[tuple[int, int], Cell] = field(default_factory=dict)

    @classmethod
    def fold(cls, traces: Iterable[StepTrace]) -> AcceptanceByLevel:
        """Counts of all steps. A node without a child of rank k is not counted for rank k."""
        cells: dict[tuple[int, int], Cell] = {}
        for trace in traces:
            onward = set(trace.verdict.path)
            for depth, node in enumerate(trace.verdict.path):
                for rank, child in enumerate(trace.tree.children[node]):
                    cells[depth, rank] = cells.get((depth, rank), Cell()) + Cell(
                        1, int(child in onward)
                    )
        return cls(cells)

    def __add__(self, other: AcceptanceByLevel) -> AcceptanceByLevel:
        none = Cell()
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

    def by_rank(self, rank: int, but: int | None = None) -> Cell:
        """The counts of `rank` summed over all depths, except depth `but`."""
        return sum(
            (cell for (depth, k), cell in self.cells.items() if k == rank and depth != but),
            Cell(),
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
class DepthVerdict:
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
    here: Cell = Cell()
    elsewhere: Cell = Cell()
    p_value: float = 1.0


def depth_verdict(by_level: AcceptanceByLevel) -> DepthVerdict:
    """Compare each cell with the cells of the same rank at all other depths, by two-proportion
    tests with Bonferroni's correction. Cells with too few counts are left out."""
    found = []
    for (depth, rank), here in sorted(by_level.cells.items()):
        elsewhere = by_level.by_rank(rank, but=depth)
        if _enough(here, elsewhere):
            found.append((_p_value(here, elsewhere), depth, rank, here, elsewhere))
    if not found:
        return DepthVerdict(None, 0)
    smallest, depth, rank, here, elsewhere = min(found, key=lambda one: one[0])
    corrected = min(1.0, smallest * len(found))
    holds = corrected >= SIGNIFICANCE
    return DepthVerdict(holds, len(found), depth, rank, here, elsewhere, corrected)


def _enough(a: Cell, b: Cell) -> bool:
    if not a.visits or not b.visits:
        return False
    pooled = (a + b).rate
    return all(min(cell.visits * pooled, cell.visits * (1 - pooled)) >= LEAST for cell in (a, b))


def _p_value(a: Cell, b: Cell) -> float:
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
