"""The best tree for an acceptance vector: the one with the most expected tokens per step (paper:
section 3.1). Independent of time, hardware and models.

`nodes` and `levels` include the root. T[n, l, b] is the largest expected number of tokens of a tree
with exactly n nodes, exactly b children at the root and at most l levels. G(n, l) is the maximum of
T[n, l, b] over b. Children beyond the end of the vector have acceptance rate 0. There are two
algorithms. The table (`dp_table`) works for every vector. The heap (`best_first`) is much faster,
but works only for non-increasing vectors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import accumulate, pairwise

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.tree import MAX_NODES, Tree, depths_of
from sequoia.errors import BadAcceptance, BadTree
from sequoia.validate_input import whole

MAX_CELLS = 2**23  # limit for one table: 64 MiB, a few seconds to fill


def best_tree(acceptance: Acceptance, nodes: int, levels: int | None = None) -> Tree:
    """The tree of exactly `nodes` nodes and at most `levels` levels (None: no limit) with the
    largest expected number of tokens. Callers usually pass `acceptance.smoothed()`: counted rates
    may increase by chance.

    Raises BadTree if a size is out of bounds or no such tree exists. A vector that increases
    somewhere needs a table; raises BadTree if that table would be too large.
    """
    if acceptance.is_monotone:
        return best_first(acceptance, nodes, levels).tree(nodes)
    nodes, levels = _sizes(nodes, levels)
    return dp_table(acceptance, nodes, levels if levels < nodes else None).tree(nodes, levels)


# -- the heap --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """The best trees of all sizes up to `len(self)`. They are nested: the first n nodes are the
    best tree of n nodes.

    parents: the parent of each node, in the order in which nodes were added. gains: the expected
    tokens that each node adds; they never increase.
    """

    parents: tuple[int, ...]
    gains: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def totals(self) -> tuple[float, ...]:
        """Expected tokens of the best trees of 1, 2, ... nodes."""
        return tuple(accumulate(self.gains))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Edges between each node and the root."""
        return depths_of(self.parents)

    def tree(self, n: int) -> Tree:
        """The best tree of `n` nodes."""
        n = whole(n, "nodes of the tree", 1, len(self), BadTree)
        return Tree.from_parents(self.parents[:n])


def best_first(acceptance: Acceptance, nodes: int, levels: int | None = None) -> Growth:
    """The best trees of 1 to `nodes` nodes and at most `levels` levels (None: no limit), for a
    non-increasing vector, in O(n log n).

    Takes the nodes with the highest scores from an infinite tree. No node scores higher than its
    parent or its left sibling, so the n best always form a tree. Raises BadAcceptance for a vector
    that increases somewhere, and BadTree for a size out of bounds or for several nodes with
    `levels` 1.
    """
    _refuse_increase(acceptance)
    nodes, levels = _sizes(nodes, levels)
    if levels == 1 < nodes:
        raise BadTree(f"{nodes} nodes do not fit in 1 level, which has room for the root only")
    grown = list(_by_score(acceptance.rates, nodes, levels))
    return Growth(tuple(parent for parent, _ in grown), tuple(score for _, score in grown))


def _by_score(rates: tuple[float, ...], nodes: int, levels: int) -> Iterator[tuple[int, float]]:
    """(parent, score) of each node, best first. Ties go to the shallower node, because a deeper
    one may need a further draft pass."""
    # (-score, depth, number of the entry, parent, rank); the number decides between equals
    heap = [(-1.0, 0, 0, -1, 0)]
    grown: list[float] = []  # scores
    for node in range(nodes):
        minus, depth, _, parent, rank = heappop(heap)
        grown.append(-minus)
        yield parent, -minus
        if depth + 1 < levels:
            heappush(heap, (minus * rates[0], depth + 1, 2 * node, node, 0))
        if node > 0:
            rate = rates[rank + 1] if rank + 1 < len(rates) else 0.0
            heappush(heap, (-grown[parent] * rate, depth, 2 * node + 1, parent, rank + 1))


def _refuse_increase(acceptance: Acceptance) -> None:
    for k, (left, right) in enumerate(pairwise(acceptance.rates)):
        if left < right:
            raise BadAcceptance(
                f"best-first search needs rates that never increase, but rates[{k + 1}] = "
                f"{right:g} is above rates[{k}] = {left:g}; smooth the vector or use dp_table"
            )


# -- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """How the maximum in one cell is reached: T[n, l, b] = `rest` + `rate` * `below`.

    nodes: m, the size of the last child's subtree. branches: the number of children of that child.
    rest: T[n-m, l, b-1]. rate: the last child's acceptance rate. below: G(m, l-1).
    """

    nodes: int
    branches: int
    rest: float
    rate: float
    below: float


@dataclass(frozen=True, eq=False)
class DPTable:
    """All T[n, l, b] up to `nodes` and `levels`. With `levels` None, depth is unlimited, and the
    methods accept only levels >= n.

    A cell is -inf if there is no such tree. The methods raise BadTree for an index out of bounds.
    """

    acceptance: Acceptance
    nodes: int
    levels: int | None
    # T for at most 1, 2, ... levels: arrays of shape (branches + 1, nodes + 1). The last array is
    # also valid for more levels. If `levels` is None there is one array, for trees of any depth.
    _cells: tuple[np.ndarray, ...] = field(repr=False)
    _best: tuple[np.ndarray, ...] = field(repr=False)  # G for the same levels, each (nodes + 1,)

    def value(self, n: int, levels: int, branches: int) -> float:
        """T[n, levels, branches]."""
        n, levels, branches = self._index(n, levels, branches)
        return float(self._row(levels, branches)[n])

    def best(self, n: int, levels: int) -> tuple[float, int]:
        """(G(n, levels), the smallest number of root children that reaches it); (-inf, n - 1) if
        no tree of n nodes has so few levels."""
        n, levels, _ = self._index(n, levels)
        return float(self._best_of(levels)[n]), self._branches(n, levels)

    def split(self, n: int, levels: int, branches: int) -> Split:
        """How T[n, levels, branches] is reached. If several splits reach it, the one with the
        smallest last subtree. Raises BadTree if the root has no child or no such tree exists."""
        n, levels, branches = self._index(n, levels, branches)
        if branches == 0 or self._row(levels, branches)[n] == -np.inf:
            raise BadTree(
                f"cell n = {n}, levels = {levels}, branches = {branches} has no split: "
                f"{'the root has no child' if branches == 0 else 'no such tree exists'}"
            )
        rates = self.acceptance.rates
        below = self._best_of(levels - 1)
        rest = self._row(levels, branches - 1)
        rate = rates[branches - 1] if branches <= len(rates) else 0.0
        sums = rest[n - 1 : 0 : -1] + _scaled(rate, below[1:n])  # for m = 1, ..., n - 1
        m = int(sums.argmax()) + 1
        return Split(m, self._branches(m, levels - 1), float(rest[n - m]), rate, float(below[m]))

    def tree(self, n: int, levels: int, branches: int | None = None) -> Tree:
        """A tree that reaches T[n, levels, branches], or G(n, levels) if `branches` is None. Raises
        BadTree if there is no such tree."""
        n, levels, given = self._index(n, levels, 0 if branches is None else branches)
        branches = self._branches(n, levels) if branches is None else given
        if self._row(levels, branches)[n] == -np.inf:
            children = "child" if branches == 1 else "children"
            raise BadTree(
                f"no tree has {n} node{'s' * (n != 1)}, {branches} root {children} and at most "
                f"{levels} level{'s' * (levels != 1)}"
            )
        return Tree(tuple(self._parents(n, levels, branches)))

    def _parents(self, n: int, levels: int, branches: int) -> Iterator[int]:
        """Parents in breadth-first order. Uses a queue rather than recursion, because a chain can
        have 1,024 levels."""
        yield -1
        queue = deque([(n, levels, branches)])
        parent = 0
        while queue:
            n, levels, branches = queue.popleft()
            below = []
            for b in range(branches, 0, -1):
                split = self.split(n, levels, b)
                below.append((split.nodes, levels - 1, split.branches))
                n -= split.nodes
            queue.extend(reversed(below))
            yield from [parent] * len(below)
            parent += 1

    def _index(self, n: int, levels: int, branches: int = 0) -> tuple[int, int, int]:
        n = whole(n, "n", 1, self.nodes, BadTree)
        # A table of unlimited depth has a single array of T. It is valid only for levels >= n,
        # where the limit has no effect.
        low, high = (n, MAX_NODES) if self.levels is None else (1, self.levels)
        levels = whole(levels, "levels", low, high, BadTree)
        return n, levels, whole(branches, "branches", 0, self.nodes - 1, BadTree)

    def _best_of(self, levels: int) -> np.ndarray:
        return self._best[min(levels, len(self._best)) - 1]

    def _row(self, levels: int, branches: int) -> np.ndarray:
        """T[:, levels, branches], (nodes + 1,); entry 0 is unused."""
        cells = self._cells[min(levels, len(self._cells)) - 1]
        extra = branches - (len(cells) - 1)
        if extra <= 0:
            return cells[branches]
        # Children beyond the last positive rate are never accepted, nor are nodes below them. A
        # node below such a child would do at least as well elsewhere, so the child is a leaf.
        return np.concatenate([np.full(extra, -np.inf), cells[-1][:-extra]])

    def _branches(self, n: int, levels: int) -> int:
        cells = self._cells[min(levels, len(self._cells)) - 1]
        # With two levels, all n - 1 other nodes are children of the root. If there are fewer
        # useful rates than that, no stored row has n - 1 children.
        return int(cells[:, n].argmax()) if cells[:, n].max() > -np.inf else n - 1


def dp_table(acceptance: Acceptance, nodes: int, levels: int | None = None) -> DPTable:
    """The table of the recurrence T[n, l, b] = max over m of T[n-m, l, b-1] + a[b] G(m, l-1), for
    any vector. m is the size of the last child's subtree, a[b] the acceptance rate of the b-th
    child.

    levels None: a table for trees of any depth. It has a single T and G, without l; this G takes
    the place of G(m, l-1). Raises BadTree if a size is out of bounds or the table would have more
    than MAX_CELLS cells.
    """
    nodes, cap = _sizes(nodes, levels)
    rates = _useful(acceptance, nodes)
    if levels is None:
        cells, best = _level(rates, nodes, None)
        return DPTable(acceptance, nodes, None, (cells,), (best,))
    layers = [_level(rates, nodes, np.full(nodes + 1, -np.inf))]
    while len(layers) < cap:
        if (len(layers) + 1) * layers[0][0].size > MAX_CELLS:
            raise BadTree(
                f"a table of {nodes} nodes, {cap} levels and {len(rates)} branches has more "
                f"than the {MAX_CELLS} cells allowed; ask for fewer nodes or levels"
            )
        layers.append(_level(rates, nodes, layers[-1][1]))
        if np.array_equal(layers[-1][1], layers[-2][1]):
            break  # another level changed nothing, so further ones will not either
    return DPTable(acceptance, nodes, levels, *zip(*layers, strict=True))


def _level(
    rates: np.ndarray, nodes: int, below: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """T (branches + 1, nodes + 1) and G (nodes + 1,) for one maximum number of levels. below: G for
    one level less; None for unlimited depth, where subtrees use the G that is being computed."""
    cells = np.full((len(rates) + 1, nodes + 1), -np.inf)
    best = np.full(nodes + 1, -np.inf)
    cells[0, 1] = best[1] = 1.0
    gains = _scaled(rates[:, None], best if below is None else below)  # (branches, nodes + 1)
    for n in range(2, nodes + 1):
        cells[1:, n] = (cells[:-1, n - 1 : 0 : -1] + gains[:, 1:n]).max(axis=1)
        top = cells[:, n].max()
        # with two levels and more leaves than rates, no row covers n; the extra leaves add nothing
        best[n] = top if top > -np.inf else cells[-1, :n].max()
        if below is None:
            gains[:, n] = _scaled(rates, best[n])
    return cells, best


def _scaled(rates: np.ndarray | float, values: np.ndarray) -> np.ndarray:
    """rates * values. -inf, which means impossible, stays -inf even for a rate of 0."""
    return np.where(np.isneginf(values), -np.inf, rates * np.maximum(values, 0.0))


def _useful(acceptance: Acceptance, nodes: int) -> np.ndarray:
    """The rates that a tree of `nodes` nodes can use: the first nodes - 1 rates, without the zeros
    after the last positive one. At least the first rate is returned."""
    last = max((k for k, rate in enumerate(acceptance.rates) if rate > 0), default=0)
    return np.array(acceptance.rates[: min(last + 1, max(nodes - 1, 1))])


def _sizes(nodes: int, levels: int | None) -> tuple[int, int]:
    nodes = whole(nodes, "nodes", 1, MAX_NODES, BadTree)
    return nodes, nodes if levels is None else whole(levels, "levels", 1, MAX_NODES, BadTree)
