"""The expected number of steps that a tree needs for a given text. The text is fixed; the average
is over the drafted tokens and the verifier's draws.

With a lossless verifier, the text's distribution depends on the target alone. Given the text, the
steps form a Markov chain: at each token the current step is at some node of its tree. It either
moves to a child with this token, or ends because the target added the token itself. Only the two
models' distributions at the positions of the text are needed. So all trees can be compared at the
same positions of one text, whichever tree the text was decoded with.

`child_chances` computes the probability of each child, `step_starts` runs the chain. Both are for
temperatures above 0: at 0 nothing is random, and the expected steps are the actual ones.
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

SEGMENTS = 8  # into which each text is divided


@dataclass(frozen=True)
class ExpectedSteps:
    """One lane on the texts of a race. tokens: the length of each text. steps: for each text, the
    expected number of steps that start in each of its SEGMENTS segments, whose lengths differ by
    at most one token."""

    tokens: tuple[int, ...]
    steps: tuple[tuple[float, ...], ...]


def child_chances(
    p: np.ndarray, q: np.ndarray, token: int, children: int, reject: Reject, chance: Chance
) -> list[Any]:
    """The probability that the first, second, ... of `children` siblings is the accepted one, given
    that the text goes on with `token`. p, q: (vocab,) distributions at their parent. p[token] is
    positive, or 0 by rounding where the text was decoded in other arithmetic.

    For rules that draw siblings and update p and q after each rejection. From the second sibling
    on, the probabilities depend on which tokens were rejected. Those tokens are drawn with
    `chance`, so the result is exact on average over draws.
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
    """The share of min(d, r) in r."""
    if d < r:
        return d / r
    return 1 if d > 0 else 0


def match_chances(token: int, drawn: Sequence[int]) -> list[int]:
    """The same for rules that accept the sibling with the text's token, whatever p and q are.
    drawn: the tokens of the siblings."""
    return [int(sibling == token) for sibling in drawn]


def step_starts(tree: Tree, chances: Sequence[Sequence[Any]]) -> list[Any]:
    """The probability that a step starts at each token of a text; they sum to the expected number
    of steps. chances: for each token, what `child_chances` returns for at least as many children
    as any node of `tree` has. The first step starts at the first token."""
    at: list[Any] = [1] + [0] * (len(tree) - 1)  # probability of each node, before the token
    starts = []
    for of_children in chances:
        starts.append(at[0])
        after: list[Any] = [0] * len(tree)
        for node in range(1, len(tree)):
            after[node] = at[tree.parents[node]] * of_children[tree.ranks[node]]
        after[0] = sum(at) - sum(after)  # the target adds the token
        at = after
    return starts
