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
from sequoia.algorithm.verifiers.sequoia import uniform_except
from sequoia.algorithm.verifiers.verifier import Reject
from sequoia.checked_types import Count, Many, Seconds

SEGMENTS = 8  # each text is divided into this many segments


@dataclass(frozen=True)
class ExpectedSteps:
    """The expected number of steps that one lane of a race needs for each of several texts. (A race
    compares several ways to decode a prompt; each is a lane.) Usually the texts are those that the
    lanes emitted. tokens: the length of each text. steps: for each text, the expected number of
    steps that start in each of its SEGMENTS segments. The lengths of the segments differ by at most
    one token."""

    tokens: Many[Count]
    steps: Many[Many[Seconds]]


def child_chances(
    p: np.ndarray, q: np.ndarray, token: int, children: int, reject: Reject, chance: Chance
) -> list[Any]:
    """For each of `children` siblings in draft order, the probability that it is the accepted one,
    given that the text continues with `token`. p, q: (vocab,) distributions of the target and the
    draft after the siblings' parent. p[token] is positive, unless the text was decoded in another
    precision and p[token] is rounded to 0 in this one.

    For verifiers with a `reject` (see Verifier), at temperatures above 0. If `reject` removes the
    rejected token from the draft distribution, the probabilities from the second sibling on depend
    on which tokens were rejected. Those tokens are drawn with `chance`. The result is then random,
    but its mean is exact.
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
    """`child_chances` for verifiers that always accept the sibling that has the text's token: 1 for
    that sibling, 0 for the others. At temperature 0 every verifier is of this kind. drawn: the
    siblings' tokens."""
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
        after[0] = sum(at) - sum(after)  # otherwise the target adds the token, and a step starts
        at = after
    return starts
