"""An acceptance vector adjusted to the measured tokens per step of a tree.

The vector's rates (one for a node's first child, one for its second, and so on) are counted node by
node, so they do not show that acceptance comes in streaks. In easy text the draft may be right for
a dozen tokens in a row, in hard text for none. A step ends at the end of the tree even if the
streak continues. A deep tree therefore usually yields fewer tokens per step than the rates predict.
In greedy decoding the difference is usually a fifth or more.
"""

from __future__ import annotations

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.tree import Tree


def fitted(acceptance: Acceptance, tree: Tree, tokens: float) -> Acceptance:
    """`acceptance`, smoothed and adjusted so that `tree` is expected to yield `tokens` per step.
    If the rates predict more tokens, they are scaled down. If they predict fewer, they are mixed
    with those of a perfect draft, whose first child is always accepted. With a tree of one node,
    the vector is only smoothed. If `tokens` is too small to be reached, all rates become
    0. If it is too large, they become those of the perfect draft."""
    rates = np.array(acceptance.smoothed().rates)
    perfect = np.eye(1, len(rates))[0]

    def adjusted(by: float) -> Acceptance:
        """The vector for `by` from 0 to 2. Its rates are 0 at 0, `rates` at 1 and `perfect` at
        2."""
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
