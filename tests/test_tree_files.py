"""Tests of tests/tree_files.py: its readers read what its writers wrote, and reject invalid trees.
Other tests compare the page's exported trees with what that module writes."""

from __future__ import annotations

import json
import random

import networkx as nx
import pytest
from tree_files import (
    from_node_link,
    to_branching,
    to_node_link,
    to_paths,
)

from sequoia import Acceptance, Tree, best_tree
from sequoia.algorithm.tree_formats import from_paths, tree_of_json
from sequoia.errors import BadTree
from ui.run.request import lane_tree
from ui.serving.limits import LOCAL

RATES = Acceptance((0.5, 0.2, 0.1))


def trees() -> list[Tree]:
    rng = random.Random(7)
    grown = [
        Tree.from_parents([-1, *(rng.randrange(i) for i in range(1, n))])
        for n in (1, 2, 5, 17, 60, 200)
    ]
    return [*grown, best_tree(RATES, 64), Tree.chain(1024), Tree.from_branching([1023])]


@pytest.mark.parametrize("tree", trees(), ids=len)
def test_both_formats_are_read_back_as_the_same_tree(tree: Tree) -> None:
    assert from_node_link(json.loads(json.dumps(to_node_link(tree)))) == tree
    assert from_paths(json.loads(json.dumps(to_paths(tree)))) == tree


@pytest.mark.parametrize("tree", trees(), ids=len)
def test_a_form_reads_every_format(tree: Tree) -> None:
    own = {"format": "sequoia-tree", "version": 1, "parents": tree.parents}
    short = {"parents": tree.parents}
    texts = [*map(json.dumps, (own, short, to_node_link(tree), tree.parents))]
    texts += [json.dumps(to_paths(tree))] * (len(tree) > 1)
    if (branching := to_branching(tree)) is not None:
        texts.append(json.dumps(branching))
    for text in texts:
        asked = lane_tree({"kind": "lab", "numbers": f" {text}\n"}, LOCAL)
        assert asked.numbers == (" ".join(map(str, tree.parents)),)


@pytest.mark.parametrize(
    "text",
    ["[", "{}", "[0]", "[[]]", "[[0], [0]]", "[[1]]", "[[0, 0]]", '[["x"]]', '[[0], "x"]', "[null]",
     '{"nodes": 1}', '{"nodes": [], "edges": []}', '{"nodes": [{"id": 0}], "edges": [{}]}',
     '{"parents": [0]}', "[" * 5000, json.dumps([-1] + [0] * 2000)],
)  # fmt: skip
def test_other_text_is_refused_at_the_field(text: str) -> None:
    with pytest.raises(BadTree):
        tree_of_json(text)
    with pytest.raises(BadTree, match=r"^parents: "):
        lane_tree({"kind": "lab", "numbers": text}, LOCAL)


def test_networkx_reads_the_node_link_format() -> None:
    tree = best_tree(RATES, 40)
    graph = nx.node_link_graph(json.loads(json.dumps(to_node_link(tree))), edges="edges")
    assert nx.is_arborescence(graph)
    assert sorted(graph.edges) == sorted(
        (parent, node) for node, parent in enumerate(tree.parents) if node
    )
    assert nx.shortest_path_length(graph, 0) == dict(enumerate(tree.depths))


def test_node_names_and_order_do_not_matter_but_ranks_do() -> None:
    graph = nx.DiGraph([("r", "x"), ("r", "y"), ("y", "z")])
    nx.set_node_attributes(graph, {"r": 0, "x": 1, "y": 0, "z": 0}, "rank")
    assert from_node_link(nx.node_link_data(graph, edges="edges")) == Tree((-1, 0, 0, 1))


@pytest.mark.parametrize("lists", [[3, 2, 1], [1], [4, 1, 1], []])
def test_the_branching_of_a_tree_is_the_list_it_was_made_from(lists: list[int]) -> None:
    assert to_branching(Tree.from_branching(lists)) == lists
