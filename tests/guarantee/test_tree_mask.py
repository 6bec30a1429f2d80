"""The tree attention mask: which nodes a node sees."""

from __future__ import annotations

import numpy as np
import torch
from doors import Tree, growing_layout, layout, model, tree_mask
from shapes import random_tree


def test_mask_views_equal_a_mask_made_by_hand() -> None:
    """Every prefix length, and every range of nodes, of random trees."""
    rng = np.random.default_rng(1)
    capacity = 6
    for _ in range(20):
        tree = random_tree(rng, 2, 8)
        n = len(tree)
        view_of = tree_mask(tree, capacity)
        for prefix in range(capacity + 1):
            for first in range(n):
                for last in range(first + 1, n + 1):
                    expected = [
                        [
                            column < prefix or column - prefix in tree.path(row)
                            for column in range(prefix + last)
                        ]
                        for row in range(first, last)
                    ]
                    view = view_of(prefix, first, last)
                    assert view.shape == (1, 1, last - first, prefix + last)
                    assert (view[0, 0] == 0).tolist() == expected
                    assert bool(((view == 0) | (view == torch.finfo(torch.float32).min)).all())


def test_a_layout_of_some_nodes_lets_them_see_their_ancestors() -> None:
    tree = Tree.from_branching([2, 2, 1])
    context = model().open(16)
    found = layout(context, tree, [1, 2, 3, 6], below=1)
    assert found.depths.tolist() == [0, 0, 1, 1]
    assert (found.mask.view(2, 0, 4)[0, 0, :, 2:] == 0).tolist() == [
        [True, False, False, False],
        [False, True, False, False],
        [True, False, True, False],
        [False, True, False, True],
    ]


def test_a_dynamic_layout_equals_that_of_the_grown_tree() -> None:
    """Random trees, one after the other in the same layout, without their roots and leaves. Nodes
    of earlier trees must not be seen."""
    rng = np.random.default_rng(2)
    context = model().open(6)
    dynamic = growing_layout(context, 9)
    for _ in range(20):
        tree = random_tree(rng, 3, 10)
        nodes = [node for level in tree.inner[1:] for node in level]
        dynamic.clear()
        for level in tree.inner[1:]:
            dynamic.add(
                [nodes.index(parent) if (parent := tree.parents[node]) else None for node in level]
            )
        fixed = layout(context, tree, nodes, below=1)
        assert len(dynamic) == len(nodes)
        assert dynamic.depths[: len(nodes)].tolist() == fixed.depths.tolist()
        assert dynamic.mask.view(5, 0, len(nodes)).equal(fixed.mask.view(5, 0, len(nodes)))
