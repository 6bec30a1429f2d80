"""The topology of token trees: the parent of every node. Independent of tokens, models and
probabilities.

Nodes are numbered breadth first. The root is 0. Siblings are in the order in which they are
drafted. A number of nodes `n` includes the root. A number of `levels`, called "depth" in the
paper's tables, includes the root's level.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from sequoia.algorithm.pictures import tree_svg
from sequoia.errors import BadTree
from sequoia.validate_input import items, read_json, shown, whole

MAX_NODES = 1024
MAX_JSON_CHARS = 64 * 1024


@dataclass(frozen=True)
class Tree:
    """A rooted ordered tree. `parents[i]` is the parent of node `i`, and `parents[0]` is -1:
    `(-1, 0, 0)` is a root with two children.

    Raises BadTree unless `0 <= parents[i] < i` for i > 0, the numbering is breadth first (`parents`
    never decreases), and there are 1 to MAX_NODES nodes.
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parents", _checked(self.parents))

    def __len__(self) -> int:
        return len(self.parents)

    def _repr_svg_(self) -> str:
        """The tree's picture in a notebook."""
        return tree_svg(self.parents, f"{len(self)} nodes on {self.levels} levels")

    # -- derived properties, computed once ---------------------------------------------------------

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node, in the order in which they are drafted."""
        lists: list[list[int]] = [[] for _ in self.parents]
        for node, parent in enumerate(self.parents[1:], start=1):
            lists[parent].append(node)
        return tuple(map(tuple, lists))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Edges between each node and the root."""
        return depths_of(self.parents)

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Position of each node among its siblings, 0 for the first. The root has rank 0."""
        ranks = [0] * len(self)
        for siblings in self.children:
            for rank, node in enumerate(siblings):
                ranks[node] = rank
        return tuple(ranks)

    @property
    def levels(self) -> int:
        """Number of levels, the root's included. One step emits at most this many tokens."""
        return self.depths[-1] + 1

    @cached_property
    def inner(self) -> tuple[tuple[int, ...], ...]:
        """Nodes that have children, by level: the nodes that the draft model has to process."""
        by_level: list[list[int]] = [[] for _ in range(self.levels - 1)]
        for node, children in enumerate(self.children):
            if children:
                by_level[self.depths[node]].append(node)
        return tuple(map(tuple, by_level))

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of nodes in each draft pass of a step."""
        return tuple(map(len, self.inner))

    @cached_property
    def ancestor_mask(self) -> np.ndarray:
        """Boolean (node, other): True where `other` is `node` itself or one of its ancestors."""
        mask = np.eye(len(self), dtype=bool)
        for node, parent in enumerate(self.parents[1:], start=1):
            mask[node] |= mask[parent]
        return mask

    def path(self, node: int) -> tuple[int, ...]:
        """Nodes from the root down to `node`. Raises BadTree if there is no such node."""
        steps = [whole(node, "node", 0, len(self) - 1, BadTree)]
        while steps[-1]:
            steps.append(self.parents[steps[-1]])
        return tuple(reversed(steps))

    def limit(self, levels: int) -> Tree:
        """This tree cut below its first `levels` levels. The root always stays. The remaining nodes
        keep their numbers."""
        levels = max(levels, 1)
        if levels >= self.levels:
            return self
        if levels not in self._cuts:
            self._cuts[levels] = Tree(self.parents[: bisect_left(self.depths, levels)])
        return self._cuts[levels]

    @cached_property
    def _cuts(self) -> dict[int, Tree]:
        """Cut trees by number of levels. They stay in memory, with their cached properties, as long
        as this tree."""
        return {}

    # -- as the choice of the same tree at every step (decoding/tree_choice.py) --------------------

    @property
    def most(self) -> int:
        """Number of nodes."""
        return len(self)

    def next(self, levels: int) -> Tree:
        """This tree, cut if only few tokens are left to decode."""
        return self.limit(levels)

    def learn(self, tree: Tree, verdict: object) -> None:
        """Does nothing: the tree stays the same."""

    # -- named shapes ------------------------------------------------------------------------------

    @classmethod
    def chain(cls, n: int) -> Tree:
        """`n` nodes in a line, the root included: ordinary speculative decoding with n - 1 draft
        tokens."""
        return cls(tuple(range(-1, _count(n, "nodes of the chain") - 1)))

    @classmethod
    def sequences(cls, k: int, length: int) -> Tree:
        """`k` independent sequences of `length` tokens below the root: 1 + k * length nodes."""
        return cls.from_branching(
            [_count(k, "sequences")] + [1] * (_count(length, "length of the sequences") - 1)
        )

    @classmethod
    def kary(cls, k: int, levels: int) -> Tree:
        """The complete tree of `levels` levels, the root's included, with `k` children at every
        inner node."""
        return cls.from_branching([_count(k, "children per node")] * (_count(levels, "levels") - 1))

    @classmethod
    def from_branching(cls, branching: Iterable[int]) -> Tree:
        """A tree in SpecInfer's notation: every node at depth i has `branching[i]` children."""
        parents = [-1]
        level = [0]
        for depth, k in enumerate(_list(branching, "the branching")):
            grown = len(level) * _count(k, f"children per node at depth {depth}")
            if len(parents) + grown > MAX_NODES:
                raise BadTree(
                    f"the first {depth + 2} levels already have {len(parents) + grown} nodes; the "
                    f"limit is {MAX_NODES}"
                )
            first = len(parents)
            parents += [node for node in level for _ in range(k)]
            level = list(range(first, first + grown))
        return cls(tuple(parents))

    @classmethod
    def from_parents(cls, parents: Iterable[int]) -> Tree:
        """A tree from any numbering in which parents come before their children. Siblings keep
        their order."""
        parents = _in_order(parents)
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(parents[1:], start=1):
            children.setdefault(parent, []).append(node)
        order = [0]
        for node in order:
            order += children.get(node, [])
        number = {node: i for i, node in enumerate(order)}
        return cls((-1, *(number[parents[node]] for node in order[1:])))

    # -- import and export -------------------------------------------------------------------------

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """The tree in `text`, a file that the Lab saved. Raises BadTree for anything else."""
        return cls(read_json(text, "tree", MAX_JSON_CHARS, BadTree).get("parents"))  # pyright: ignore[reportArgumentType]

    def to_networkx(self) -> nx.DiGraph:
        """A directed graph with edges from parent to child. Nodes have the attributes `depth` and
        `rank`. `nx.node_link_data` makes of it what the Lab exports as networkx node-link JSON."""
        graph = nx.DiGraph()
        for node in range(len(self)):
            graph.add_node(node, depth=self.depths[node], rank=self.ranks[node])
        graph.add_edges_from(
            (parent, node) for node, parent in enumerate(self.parents[1:], start=1)
        )
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> Tree:
        """The tree in a graph with edges from parent to child, as `nx.node_link_graph` returns it.
        Siblings are in the order of their attribute `rank`, those of equal or no rank in that of
        their edges. Raises BadTree unless the graph is one rooted tree of 1 to MAX_NODES nodes."""
        if len(graph) > MAX_NODES or not graph or not nx.is_arborescence(graph):
            raise BadTree(
                f"the graph of {len(graph)} nodes and {graph.number_of_edges()} edges is not one "
                f"rooted tree of at most {MAX_NODES} nodes with edges away from its root"
            )
        order = [next(node for node, degree in graph.in_degree() if degree == 0)]
        parents = [-1]
        for i, node in enumerate(order):
            try:
                below = sorted(graph[node], key=lambda child: graph.nodes[child].get("rank", 0))
            except TypeError:
                raise BadTree("the ranks of siblings are not all numbers") from None
            order += below
            parents += [i] * len(below)
        return cls(tuple(parents))


def depths_of(parents: Sequence[int]) -> tuple[int, ...]:
    """Edges between each node and the root. In `parents`, every parent comes before its
    children."""
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    return tuple(depths)


def _checked(parents: Iterable[Any]) -> tuple[int, ...]:
    """`parents` as a tuple of ints. Raises BadTree."""
    parents = _in_order(parents)
    for node in range(2, len(parents)):
        if parents[node] < parents[node - 1]:
            raise BadTree(
                f"not breadth first: parents[{node}] = {parents[node]} comes after "
                f"parents[{node - 1}] = {parents[node - 1]}; use Tree.from_parents to renumber"
            )
    return parents


def _in_order(parents: Iterable[Any]) -> tuple[int, ...]:
    """`parents` as ints. Raises BadTree unless they are 1 to MAX_NODES integers, and every parent
    comes before its children."""
    parents = _list(parents, "parents")
    if not 1 <= len(parents) <= MAX_NODES:
        count = f"more than {MAX_NODES}" if parents else "0"
        raise BadTree(f"a tree of {count} nodes; expected 1 to {MAX_NODES}")
    for node, parent in enumerate(parents):
        if type(parent) is not int and not isinstance(parent, np.integer):
            raise BadTree(f"parents[{node}] = {shown(parent)} is not an integer")
        if (parent != -1) if node == 0 else not 0 <= parent < node:
            bound = "-1, because the root has no parent" if node == 0 else f"0 to {node - 1}"
            raise BadTree(f"parents[{node}] = {shown(parent)}; it must be {bound}")
    return tuple(map(int, parents))


def _list(values: Any, what: str) -> tuple[Any, ...]:
    return items(values, f"{what} must be a list of integers", MAX_NODES, BadTree)


def _count(value: Any, what: str) -> int:
    return whole(value, what, 1, MAX_NODES, BadTree)
