"""Tree topology: named shapes, renumbering, the ancestor mask against networkx, and files."""

from __future__ import annotations

import json
import random
from typing import Any

import networkx as nx
import numpy as np
import pytest
from doors import MAX_NODES, BadTree, Tree
from shapes import ordered_trees

# The root has three children. Node 1 has two, node 3 has one, and so has node 6.
EXAMPLE = Tree((-1, 0, 0, 0, 1, 1, 3, 6))


def random_parents(n: int, rng: random.Random) -> list[int]:
    """Parents come before children, but the order is usually not breadth first."""
    return [-1] + [rng.randrange(node) for node in range(1, n)]


def all_small() -> list[Tree]:
    return [tree for n in range(1, 8) for tree in ordered_trees(n)]


def test_derived_properties_of_an_example() -> None:
    assert len(EXAMPLE) == 8
    assert EXAMPLE.children == ((1, 2, 3), (4, 5), (), (6,), (), (), (7,), ())
    assert EXAMPLE.depths == (0, 1, 1, 1, 2, 2, 2, 3)
    assert EXAMPLE.ranks == (0, 0, 1, 2, 0, 1, 0, 0)
    assert EXAMPLE.levels == 4
    assert EXAMPLE.inner == ((0,), (1, 3), (6,))
    assert EXAMPLE.widths == (1, 2, 1)
    assert [EXAMPLE.path(node) for node in (0, 2, 7)] == [(0,), (0, 2), (0, 3, 6, 7)]


def test_a_root_without_children_drafts_nothing() -> None:
    root = Tree((-1,))
    assert (root.levels, root.inner, root.widths, root.path(0)) == (1, (), (), (0,))


def test_the_enumeration_of_ordered_trees_is_complete_and_distinct() -> None:
    """The counts are the Catalan numbers. The tests of planning and of exact distributions rely on
    this enumeration."""
    assert [len(set(ordered_trees(n))) for n in range(1, 9)] == [1, 1, 2, 5, 14, 42, 132, 429]


def test_ancestor_mask_equals_that_of_networkx() -> None:
    """All trees of up to 7 nodes. Guards against a mask that misses the node itself or an ancestor,
    or includes a sibling."""
    for tree in all_small():
        graph = tree.to_networkx()
        for node in range(len(tree)):
            assert set(np.flatnonzero(tree.ancestor_mask[node])) == nx.ancestors(graph, node) | {
                node
            }


def test_networkx_graph_is_the_tree() -> None:
    for tree in all_small():
        graph = tree.to_networkx()
        assert nx.is_arborescence(graph) if len(tree) > 1 else len(graph) == 1
        assert nx.single_source_shortest_path_length(graph, 0) == dict(enumerate(tree.depths))
        assert [graph.nodes[node]["depth"] for node in range(len(tree))] == list(tree.depths)
        assert [graph.nodes[node]["rank"] for node in range(len(tree))] == list(tree.ranks)
        assert list(graph.edges) == [
            (parent, child) for parent in range(len(tree)) for child in tree.children[parent]
        ]


def test_a_networkx_graph_is_read_back_as_the_same_tree() -> None:
    for tree in all_small():
        assert Tree.from_networkx(tree.to_networkx()) == tree


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        (0, []),
        (2, []),
        (2, [(0, 1), (1, 0)]),
        (3, [(0, 2), (1, 2)]),
        (1025, [(0, node) for node in range(1, 1025)]),
    ],
)
def test_a_graph_that_is_not_one_rooted_tree_is_refused(
    nodes: int, edges: list[tuple[int, int]]
) -> None:
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(nodes))
    with pytest.raises(BadTree, match=f"graph of {nodes} nodes and {len(edges)} edges"):
        Tree.from_networkx(graph)


def test_inner_nodes_are_those_with_children_level_by_level() -> None:
    for tree in all_small():
        assert [node for level in tree.inner for node in level] == [
            v for v in range(len(tree)) if tree.children[v]
        ]
        assert all(
            tree.depths[node] == depth for depth, level in enumerate(tree.inner) for node in level
        )
        assert tree.widths == tuple(len(level) for level in tree.inner)
        assert len(tree.inner) == tree.levels - 1


def test_path_leads_from_the_root_along_parents() -> None:
    for tree in all_small():
        for node in range(len(tree)):
            assert tree.path(node) == tuple(np.flatnonzero(tree.ancestor_mask[node]))


@pytest.mark.parametrize("node", [-1, 8, True, 1.0, None])
def test_path_to_a_missing_node_is_rejected(node: Any) -> None:
    """Unchecked, node -1 would silently be taken for the last node."""
    with pytest.raises(BadTree, match="is not a whole number from 0 to 7"):
        EXAMPLE.path(node)


def test_limit_keeps_exactly_the_upper_levels() -> None:
    for tree in all_small():
        for levels in range(-1, tree.levels + 2):
            cut = tree.limit(levels)
            assert cut.levels == min(max(levels, 1), tree.levels)
            assert cut.parents == tree.parents[: len(cut)]
            assert len(cut) == sum(depth < max(levels, 1) for depth in tree.depths)


def test_named_shapes() -> None:
    assert Tree.chain(1).parents == (-1,)
    assert Tree.chain(4).parents == (-1, 0, 1, 2)
    assert Tree.sequences(2, 3).parents == (-1, 0, 0, 1, 2, 3, 4)
    assert Tree.sequences(5, 1).parents == (-1, 0, 0, 0, 0, 0)
    assert Tree.kary(3, 1).parents == (-1,)
    assert Tree.kary(2, 3).parents == (-1, 0, 0, 1, 1, 2, 2)
    assert Tree.from_branching([]).parents == (-1,)
    assert Tree.from_branching([2, 1, 3]).parents == (-1, 0, 0, 1, 2, 3, 3, 3, 4, 4, 4)
    assert Tree.from_branching((3, 2)).widths == (1, 3)


def test_the_largest_trees_are_valid() -> None:
    for tree in (
        Tree.chain(MAX_NODES),
        Tree.sequences(MAX_NODES - 1, 1),
        Tree.sequences(1, MAX_NODES - 1),
        Tree.kary(2, 10),
    ):
        assert len(tree) in (MAX_NODES, MAX_NODES - 1)
        text = json.dumps({"format": "sequoia-tree", "version": 1, "parents": tree.parents})
        assert Tree.from_json(text) == tree


def test_from_parents_renumbers_and_keeps_the_order_of_siblings() -> None:
    """Random trees. Guards against a changed order of siblings."""
    rng = random.Random(3)
    for _ in range(200):
        parents = random_parents(rng.randint(1, 40), rng)
        tree = Tree.from_parents(parents)
        assert _shape(list(tree.parents)) == _shape(parents)


def _shape(parents: list[int], node: int = 0) -> tuple:
    return tuple(
        _shape(parents, child) for child in range(node + 1, len(parents)) if parents[child] == node
    )


def test_from_parents_does_not_change_breadth_first_trees() -> None:
    assert all(Tree.from_parents(tree.parents) == tree for tree in all_small())


def test_parents_can_be_any_iterable_of_ints() -> None:
    assert (
        Tree([-1, 0])
        == Tree(np.array([-1, 0]))
        == Tree(iter((-1, 0)))
        == Tree.from_parents(iter((-1, 0)))
    )
    assert all(type(parent) is int for parent in Tree(np.array([-1, 0])).parents)


BAD: dict[str, tuple[Any, str]] = {
    "empty": ((), "a tree of 0 nodes; expected 1 to 1024"),
    "too many": ((-1,) + (0,) * 1024, "more than 1024 nodes; expected 1 to 1024"),
    "root with a parent": ((0,), "parents[0] = 0; it must be -1"),
    "two roots": ((-1, -1), "parents[1] = -1; it must be 0 to 0"),
    "cycle": ((-1, 2, 1), "parents[1] = 2; it must be 0 to 0"),
    "own parent": ((-1, 1), "parents[1] = 1; it must be 0 to 0"),
    "true": ((-1, 0, True), "parents[2] = True is not an integer"),
    "float": ((-1, 0.0), "parents[1] = 0.0 is not an integer"),
}


@pytest.mark.parametrize("make", [Tree, Tree.from_parents])
@pytest.mark.parametrize("what", list(BAD))
def test_invalid_trees_are_rejected(what: str, make: Any) -> None:
    parents, named = BAD[what]
    with pytest.raises(BadTree) as caught:
        make(parents)
    assert named in str(caught.value)


def test_a_depth_first_numbering_is_rejected() -> None:
    """The mask and the levels require breadth-first numbers. The message suggests from_parents."""
    with pytest.raises(
        BadTree, match=r"parents\[3\] = 0 comes after parents\[2\] = 1; use Tree.from_parents"
    ):
        Tree((-1, 0, 1, 0))
    assert Tree.from_parents((-1, 0, 1, 0)).parents == (-1, 0, 0, 1)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Tree.chain(0), "nodes of the chain: 0 is not a whole number from 1 to 1024"),
        (lambda: Tree.chain(1025), "nodes of the chain: 1025"),
        (lambda: Tree.chain(True), "nodes of the chain: True"),
        (lambda: Tree.sequences(0, 2), "sequences: 0"),
        (lambda: Tree.sequences(2, 0), "length of the sequences: 0"),
        (lambda: Tree.sequences(32, 32), "levels already have 1025 nodes; the limit is 1024"),
        (lambda: Tree.kary(2, 11), "first 11 levels already have 2047 nodes; the limit is 1024"),
        (lambda: Tree.kary(2, 1000), "already have 2047 nodes"),
        (lambda: Tree.kary(2.0, 2), "children per node: 2.0"),
        (lambda: Tree.kary(1, 0), "levels: 0"),
        (lambda: Tree.from_branching([2, 0]), "children per node at depth 1: 0"),
        (lambda: Tree.from_branching([10**5000]), "per node at depth 0: an integer of 16610 bits"),
        (lambda: Tree.from_branching([1024]), "already have 1025 nodes"),
        (lambda: Tree.from_branching(None), "not None"),
    ],
)
def test_impossible_shapes_are_rejected(make: Any, named: str) -> None:
    with pytest.raises(BadTree) as caught:
        make()
    assert named in str(caught.value)


@pytest.mark.parametrize("parents", [[-1, 2, 1], [-1] + [0] * 1024, "-1", [[0]]])
def test_a_file_with_an_invalid_tree_is_refused(parents: Any) -> None:
    text = json.dumps({"format": "sequoia-tree", "version": 1, "parents": parents})
    with pytest.raises(BadTree, match=r"parents|more than 1024 nodes|list of integers"):
        Tree.from_json(text)
