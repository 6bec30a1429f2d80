"""The walk down one drafted tree: a pure function of topology, tokens, the two laws and a Chance
(paper: Algorithm 2). What a rejection leaves of the laws is the rule's own.

`p` and `q` give, for a node, the law of the token after it: p(node), q(node) -> (vocab,) arrays
that sum to 1. They may hold floats or exact fractions; this file does not care, and the tests use
that. It does care that rounding in a float32 q does not become an error in the law: inside, q has
the number type of p and a sum of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Trial, Verdict
from sequoia.algorithm.verifiers.verifier import DistributionOf

# (R, D, token) -> (R, D, mass)
Reject = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray, Any]]


def uncovered(residual: np.ndarray, draft: np.ndarray) -> tuple[np.ndarray, Any]:
    """What the target's law has beyond the draft's, max(R - D, 0), scaled to a sum of 1, and its
    sum before."""
    rest = residual - draft
    np.maximum(rest, 0, out=rest)
    mass = rest.sum()
    # in exact arithmetic some is uncovered after a rejection; where rounding says none
    # the two laws are equal
    if not mass > 0:
        return residual, mass
    rest /= mass
    return rest, mass


def walk(
    tree: Tree,
    tokens: Sequence[int],
    p: DistributionOf,
    q: DistributionOf,
    chance: Chance,
    reject: Reject,
) -> Verdict:
    """Go down from the root: accept a child or, with none accepted, let the target emit from
    what is left of its law.

    tokens[node] is the drafted token of each node; the children of a node were drawn from
    q(node) the way `reject` assumes. The emitted tokens then follow the target's law whatever
    the tree and the draft are.
    """
    node = 0
    path = [0]
    trials = []
    residual = p(node)
    while tree.children[node]:
        distribution = q(node)
        draft = None
        tried = []
        total = distribution.sum(dtype=residual.dtype)
        for child in tree.children[node]:
            token = tokens[child]
            if draft is not None and not draft.any():
                draft = _uniform_except(draft, tried)
            weights = (
                residual[token],
                distribution[token] / total if draft is None else draft[token],
            )
            accepted, u = chance.accept(weights[1], weights[0])
            if accepted:
                break
            # not before: most first children are accepted, which takes one weight of the law alone
            if draft is None:
                draft = distribution.astype(residual.dtype) / total
            residual, draft, mass = reject(residual, draft, token)
            tried.append(token)
            trials.append(Trial(child, token, *weights, u, False, mass))
        else:
            break
        trials.append(Trial(child, token, *weights, u, True))
        node = child
        path.append(node)
        residual = p(node)
    return Verdict(tuple(path), chance.pick(residual), tuple(trials))


def _uniform_except(draft: np.ndarray, tried: Sequence[int]) -> np.ndarray:
    """The law of the next draw when q has nothing left: every token not tried alike (`draft` is
    all zero, (vocab,))."""
    flat = draft + 1
    flat[list(tried)] = draft[list(tried)]
    return flat / flat.sum()
