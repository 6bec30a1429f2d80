"""The expected number of steps that a tree needs for a given text. The text is fixed; the average
is over the drafted tokens and the verifier's draws.

With a lossless verifier, the text's distribution depends on the target alone. Given the text, the
steps form a Markov chain: at each token the current step is at some node of its tree. It either
moves to a child with this token, or ends because the target added the token itself. Only the two
models' distributions at the positions of the text are needed. So all trees can be compared at the
same positions of one text, whichever tree the text was decoded with.

`child_chances` and `match_chances` compute the transition probabilities, `step_starts` computes the
chain. At temperature 0 nothing is random: `match_chances` serves every verifier, and the expected
number of steps is the actual number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Reject
from sequoia.algorithm.verifiers.walk import uniform_except

SEGMENTS = 8  # each text is divided into this many


@dataclass(frozen=True)
class ExpectedSteps:
    """The expected number of steps that one lane of a race needs for each of several texts, usually
    those of all lanes. tokens: the length of each text. steps: for each text, the expected number
    of steps that start in each of its SEGMENTS segments. The lengths of the segments differ by at
    most one token."""

    tokens: tuple[int, ...]
    steps: tuple[tuple[float, ...], ...]


def child_chances(
    p: np.ndarray, q: np.ndarray, token: int, children: int, reject: Reject, chance: Chance
) -> list[Any]:
    """For each of `children` siblings in draft order, the probability that it is the accepted one,
    given that the text continues with `token`. p, q: (vocab,) distributions after their parent.
    p[token] is positive, unless the text was decoded in another precision and rounding made it 0.

    For rules with a `reject` (see Verifier), at temperatures above 0. If the rule removes rejected
    tokens from the draft, the probabilities from the second sibling on depend on which tokens were
    rejected. Those tokens are drawn with `chance`, so the result is then random, but its mean is
    exact.
    """
    residual = p
    draft = q.astype(p.dtype) / q.sum(dtype=p.dtype)
    found = list[Any]()
    rejected = list[int]()
    reached: Any = 1
    for _ in range(children):
        if not draft.any():
            draft = uniform_except(draft, rejected)
        share = _share(draft[token], residual[token])
        found.append(reached * share)
        reached = reached * (1 - share)
        surplus = np.maximum(draft - residual, 0)
        if not reached or not surplus.any():  # no further child is tried
            break
        rejected.append(chance.pick(surplus / surplus.sum()))
        residual, draft, _ = reject(residual, draft, rejected[-1])
    return [*found, *[0] * (children - len(found))]


def _share(d: Any, r: Any) -> Any:
    """min(d, r) / r. If r is 0: 1 for positive d, else 0."""
    if d < r:
        return d / r
    return 1 if d > 0 else 0


def match_chances(token: int, drawn: Sequence[int]) -> list[int]:
    """`child_chances` for rules that always accept the sibling that has the text's token, as all
    do at temperature 0: 1 for that sibling, 0 for the others. drawn: the siblings' tokens."""
    return [int(sibling == token) for sibling in drawn]


def step_starts(tree: Tree, chances: Sequence[Sequence[Any]]) -> list[Any]:
    """For each token of a text, the probability that a step starts there. The first is 1, and their
    sum is the expected number of steps. chances: for each token, the result of `child_chances` or
    `match_chances`, for at least as many children as any node of `tree` has."""
    # for each node, the probability that the step is there just before the token
    at: list[Any] = [1] + [0] * (len(tree) - 1)
    starts = []
    for of_children in chances:
        starts.append(at[0])
        after: list[Any] = [0] * len(tree)
        for node in range(1, len(tree)):
            after[node] = at[tree.parents[node]] * of_children[tree.ranks[node]]
        after[0] = sum(at) - sum(after)  # the target adds the token
        at = after
    return starts
