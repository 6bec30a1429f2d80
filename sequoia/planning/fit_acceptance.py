"""An acceptance vector adjusted to the measured tokens per step of a tree.

Rates are counted at the root, so they do not show that acceptance comes in streaks: where the text
is easy the draft is right for a dozen tokens in a row, where it is hard for none, and a step ends
at the first rejection or at the end of the tree. A deep tree therefore usually yields fewer tokens
than its rates predict: in greedy decoding a fifth fewer, or even less.
"""

from __future__ import annotations

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import expected_tokens
from sequoia.algorithm.tree import Tree


def fitted(acceptance: Acceptance, tree: Tree, tokens: float) -> Acceptance:
    """`acceptance`, smoothed and adjusted so that `tree` is expected to yield `tokens` per step.
    The rates are scaled down if they predict more tokens; if they predict fewer, they are mixed
    with those of a draft whose first child is always accepted. A tree of one node changes nothing.
    Every tree yields at least one token and at most as many as it has levels: below and above, all
    rates are 0, or the first one is 1."""
    rates = np.array(acceptance.smoothed().rates)
    perfect = np.eye(1, len(rates))[0]

    def adjusted(by: float) -> Acceptance:
        """All rates 0 for 0, unchanged for 1, those of a perfect draft for 2."""
        mixed = by * rates if by < 1 else (2 - by) * rates + (by - 1) * perfect
        return Acceptance(tuple(mixed.clip(0, 1).tolist()))

    if len(tree) == 1:
        return adjusted(1.0)
    low = 0.0
    high = 2.0
    for _ in range(60):
        middle = (low + high) / 2
        too_few = expected_tokens(tree, adjusted(middle)) < tokens
        low, high = (middle, high) if too_few else (low, middle)
    return adjusted(low)
