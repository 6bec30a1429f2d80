"""An acceptance vector brought in line with what a tree made.

Rates counted at a root know nothing of the order in which children are accepted: where the text is
easy the draft is right for a dozen tokens in a row, where it is hard for none, and a step ends at
the first hard place or with the tree. So a deep tree mostly makes fewer tokens than the same rates
would if acceptance did not come in runs: a fifth fewer and more when decoding greedily.
"""

from __future__ import annotations

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import expected_tokens
from sequoia.algorithm.tree import Tree


def fitted(acceptance: Acceptance, tree: Tree, tokens: float) -> Acceptance:
    """`acceptance` smoothed and bent so that `tree` makes `tokens` tokens a step: scaled down for
    fewer than it says, for more mixed with a draft that is always right at once. A tree of one node
    says nothing of it, and no tree makes less than one token or more than it has levels: nearest to
    that is all rates 0, or the first one 1."""
    rates = np.array(acceptance.smoothed().rates)
    right = np.eye(1, len(rates))[0]

    def bent(by: float) -> Acceptance:
        return Acceptance(
            tuple(
                (by * rates if by < 1 else (2 - by) * rates + (by - 1) * right).clip(0, 1).tolist()
            )
        )

    if len(tree) == 1:
        return bent(1.0)
    low = 0.0
    high = 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if expected_tokens(tree, bent(middle)) < tokens else (low, middle)
        )
    return bent(low)
