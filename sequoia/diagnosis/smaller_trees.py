"""Smaller trees of the same shape as a given one."""

from __future__ import annotations

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import scores
from sequoia.algorithm.tree import Tree


def smaller(tree: Tree, acceptance: Acceptance) -> list[Tree]:
    """Smaller trees of the same shape as `tree`.

    For a chain: all shorter chains of at least two nodes. For another tree in which all nodes of a
    level have the same number of children: trees with as many levels in which every node keeps only
    its first m children, for each m from 1 to one less than the largest number of children. For any
    other tree: its n best nodes, for each n from 2 to one less than its size.
    """
    branching = [
        {len(tree.children[node]) for node in range(len(tree)) if tree.depths[node] == depth}
        for depth in range(tree.levels - 1)
    ]
    if any(len(counts) > 1 for counts in branching):
        return [_pruned(tree, acceptance, n) for n in range(2, len(tree))]
    counts = [max(counts) for counts in branching]
    if max(counts, default=1) == 1:
        return [Tree.chain(n) for n in range(2, len(tree))]
    return [
        Tree.from_branching(min(count, most) for count in counts) for most in range(1, max(counts))
    ]


def _pruned(tree: Tree, acceptance: Acceptance, n: int) -> Tree:
    """The `n` nodes of `tree` with the best scores. The smoothed vector never increases, so no node
    scores higher than its parent or an earlier sibling. Of nodes with equal scores, the earliest
    are kept. So no node is kept without its parent and earlier siblings."""
    weights = scores(tree, acceptance.smoothed())
    kept = sorted(sorted(range(len(tree)), key=lambda node: -weights[node])[:n])
    index = {node: i for i, node in enumerate(kept)}
    return Tree((-1, *(index[tree.parents[node]] for node in kept[1:])))
