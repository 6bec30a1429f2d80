"""Writes the formats in which the page exports trees for other programs, and reads two of them:
node-link and paths. Tests compare the page's files with those of this module.

Node-link: the format of networkx.node_link_graph. Paths: for every node except the root, the ranks
on the path to it, 0 for a first child (Medusa's format). Branching: children per node, level by
level (SpecInfer's format).
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from sequoia.algorithm.tree import Tree


def to_node_link(tree: Tree) -> dict[str, Any]:
    """Data for JSON. Nodes have `depth` and `rank`."""
    return nx.node_link_data(tree.to_networkx(), edges="edges")


def from_node_link(data: Any) -> Tree:
    return Tree.from_networkx(nx.node_link_graph(data, edges="edges"))


def to_paths(tree: Tree) -> list[list[int]]:
    """The ranks on the path to each node except the root, in breadth-first order."""
    paths: list[list[int]] = [[]]
    for parent, rank in zip(tree.parents[1:], tree.ranks[1:], strict=True):
        paths.append([*paths[parent], rank])
    return paths[1:]


def to_branching(tree: Tree) -> list[int] | None:
    """The number of children per node, for each level except the last. None if nodes of one level
    have different numbers of children."""
    levels: list[set[int]] = [set() for _ in range(tree.levels - 1)]
    for depth, children in zip(tree.depths, tree.children, strict=True):
        if depth < tree.levels - 1:
            levels[depth].add(len(children))
    return (
        [counts.pop() for counts in levels] if all(len(counts) == 1 for counts in levels) else None
    )
