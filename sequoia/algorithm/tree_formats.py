"""Trees in the formats of other programs, as JSON. The page's Lab exports each of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import networkx as nx

from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.errors import BadTree
from sequoia.validate_input import items, whole

MAX_CHARS = 2**21  # the paths of a chain of MAX_NODES nodes have 1.6 million


def tree_of_json(text: str) -> Tree:
    """The tree in `text`: this program's own format, networkx's node-link format, Medusa's paths
    (see `from_paths`), SpecInfer's branching list, or a list with the parent of each node, which
    begins with -1, also as {"parents": [...]}. Raises BadTree for anything else."""
    if len(text) > MAX_CHARS:
        raise BadTree(f"the tree has {len(text):,} characters; the limit is {MAX_CHARS:,}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise BadTree("the tree is not valid JSON") from None
    if isinstance(found, list):
        return _from_list(found)
    if isinstance(found, dict) and "nodes" in found:
        return _from_node_link(found)
    if isinstance(found, dict) and [*found] == ["parents"]:
        return Tree.from_parents(found["parents"])
    return Tree.from_json(text)


def _from_list(found: list[Any]) -> Tree:
    if found and all(isinstance(one, list) for one in found):
        return from_paths(found)
    return Tree.from_parents(found) if found[:1] == [-1] else Tree.from_branching(found)


def from_paths(paths: Sequence[Any]) -> Tree:
    """The tree that has a node for each of `paths`, in any order, and a root. A path has the ranks
    from the root to its node, 0 for a first child (the format of Medusa and EAGLE). Raises
    BadTree."""
    each = items(paths, "paths must be a list of lists", MAX_NODES, BadTree)
    order = sorted(map(_path, each), key=lambda path: (len(path), path))
    number = {path: node for node, path in enumerate([(), *order])}
    for path in order:
        if path[:-1] not in number or (path[-1] and (*path[:-1], path[-1] - 1) not in number):
            raise BadTree(f"the path {[*path]} needs a node that no other path describes")
    if len(number) != len(order) + 1:
        raise BadTree("two of the paths are the same")
    return Tree((-1, *(number[path[:-1]] for path in order)))


def _path(ranks: Any) -> tuple[int, ...]:
    found = items(ranks, "a path must be a list of ranks", MAX_NODES, BadTree)
    if not found:
        raise BadTree("a path is empty; the root needs none")
    return tuple(whole(rank, "a rank", 0, MAX_NODES, BadTree) for rank in found)


def _from_node_link(found: dict[str, Any]) -> Tree:
    try:
        graph = nx.node_link_graph({**found, "directed": True}, edges="edges")
    except (nx.NetworkXError, KeyError, TypeError, AttributeError, ValueError):
        raise BadTree("the nodes and edges are not in networkx's node-link format") from None
    return Tree.from_networkx(graph)
