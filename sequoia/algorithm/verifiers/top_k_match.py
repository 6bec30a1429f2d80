"""Top-k match: the children are the draft's most probable tokens. At each node the target samples a
token itself, and if a child has that token, the child is accepted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sequoia.algorithm.sampling import Chance, likeliest
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import DistributionOf, Trial, Verdict, Verifier


def match(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chance: Chance
) -> Verdict:
    """Go down from the root. At each node, sample a token from the target's distribution and go on
    to the child that has it. If no child has it, the token is the bonus and the walk ends."""
    node = 0
    path = [0]
    trials = []
    while True:
        target = p(node)
        drawn = chance.pick(target)
        draft = q(node) if tree.children[node] else np.empty(0)
        for child in tree.children[node]:
            hit = tokens[child] == drawn
            trials.append(
                Trial(child, tokens[child], target[tokens[child]], draft[tokens[child]], None, hit)
            )
            if hit:
                node = child
                path.append(child)
                break
        else:
            return Verdict(tuple(path), drawn, tuple(trials))


TOP_K_MATCH = Verifier(
    key="topk",
    label="top-k match",
    about="the children are the draft’s top tokens; the target samples its own token and keeps the "
    "child that matches.",
    colour=("#3949ab", "#9aa8ff"),
    marker="triangle-right",
    draw=lambda _chance, q, counts: likeliest(q, counts),
    verify=match,
    chances=lambda p, _q, tokens: [p[token] for token in tokens],
)
