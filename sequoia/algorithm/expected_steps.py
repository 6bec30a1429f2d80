"""How many steps a tree needs for a given text, on average over everything that is random besides
the text: which tokens are drafted, and the draws of the verifier.

A verifier that is lossless leaves the text to the target. Given the text, the steps are a Markov
chain: at each token a step is at some node of its tree, and either goes on to a child that has this
token, or ends because the target added the token itself. All it takes are the two models'
distributions at the positions of the text. So every tree can be compared with every other at the
same positions of one text, whichever of them the text was decoded with.

`child_chances` is the probability of each child, `step_starts` the chain. This is for temperatures
above 0. At 0 nothing is random, and the steps that are made are those that are expected.
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

SEGMENTS = 8  # of a text


@dataclass(frozen=True)
class ExpectedSteps:
    """One lane on the texts of a race. tokens: of each text. steps: the expected number of steps
    that start in each of SEGMENTS segments of it, with equally many tokens up to one."""

    tokens: tuple[int, ...]
    steps: tuple[tuple[float, ...], ...]


def child_chances(
    p: np.ndarray, q: np.ndarray, token: int, children: int, reject: Reject, chance: Chance
) -> list[Any]:
    """The probability that the first, second, ... of `children` siblings is the accepted one, given
    that the text goes on with `token`. p, q: (vocab,) distributions at their parent. p[token] is
    positive, or 0 by rounding where the text was decoded in other arithmetic.

    For a rule that draws siblings and changes p and q after a rejection. The probabilities after
    the first depend on the tokens that were rejected; these are drawn with `chance`, so that the
    mean over draws is exact.
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
    """The same for a rule that accepts the sibling with the text's token, whatever p and q are:
    `drawn` are the tokens of the siblings."""
    return [int(sibling == token) for sibling in drawn]


def step_starts(tree: Tree, chances: Sequence[Sequence[Any]]) -> list[Any]:
    """The probability that a step starts at each token of a text; their sum is the expected number
    of steps. chances: of each token, as from `child_chances` for at least as many children as a
    node of `tree` has. The first step starts at the first token."""
    at: list[Any] = [1] + [0] * (len(tree) - 1)  # that the step is at each node, before the token
    starts = []
    for of_children in chances:
        starts.append(at[0])
        after: list[Any] = [0] * len(tree)
        for node in range(1, len(tree)):
            after[node] = at[tree.parents[node]] * of_children[tree.ranks[node]]
        after[0] = sum(at) - sum(after)  # the target adds the token
        at = after
    return starts
