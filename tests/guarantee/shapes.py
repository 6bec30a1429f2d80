"""Trees for tests that check a claim on many: every ordered tree of a given size, and random
ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from doors import Tree

Nested = tuple  # an ordered tree as the tuple of its subtrees


def ordered_trees(n: int) -> Iterator[Tree]:
    """All rooted ordered trees of exactly `n` nodes, each once. For n = 1, 2, 3, ... there are 1,
    1, 2, 5, 14, 42, 132, 429, ... (Catalan numbers)."""
    return (Tree.from_parents(_parents(forest)) for forest in _forests(n - 1))


@cache
def _forests(n: int) -> tuple[Nested, ...]:
    """All ordered forests of `n` nodes, each as the tuple of its trees. A root above a forest makes
    it a tree."""
    if n == 0:
        return ((),)
    return tuple(
        (first, *rest)
        for m in range(1, n + 1)
        for first in _forests(m - 1)
        for rest in _forests(n - m)
    )


def _parents(tree: Nested, parent: int = -1, start: int = 0) -> list[int]:
    """The parent of each node, in preorder. The root has number `start` and parent `parent`."""
    parents = [parent]
    for subtree in tree:
        parents += _parents(subtree, start, start + len(parents))
    return parents


def random_tree(rng: np.random.Generator, least: int, below: int) -> Tree:
    """A tree of `least` to `below` - 1 nodes."""
    nodes = rng.integers(least, below)
    return Tree.from_parents([-1, *(int(rng.integers(node)) for node in range(1, nodes))])
