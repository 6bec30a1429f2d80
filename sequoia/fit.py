"""An acceptance vector brought in line with what a tree made.

Rates counted at a root know nothing of the order in which children are accepted: where the text is easy the draft is right for a
dozen tokens in a row, where it is hard for none, and a step ends at the first hard place or with the tree. So a deep tree makes
fewer tokens than the same rates would if acceptance did not come in runs: a fifth fewer and more when decoding greedily.
"""

from __future__ import annotations

from .acceptance import Acceptance
from .planner import expected_tokens
from .tree import Tree

_LEAST = 1e-12


def fitted(acceptance: Acceptance, tree: Tree, tokens: float) -> Acceptance:
    """`acceptance` smoothed and scaled so that `tree` makes `tokens` tokens a step, or as near as rates that sum to 1 get."""
    rates = acceptance.smoothed().rates

    def scaled(factor: float) -> Acceptance:
        return Acceptance(tuple(min(rate * factor, 1.0) for rate in rates))

    low, high = 0.0, 1 / max(sum(rates), _LEAST)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_tokens(tree, scaled(middle)) < tokens else (low, middle)
    return scaled(low)
