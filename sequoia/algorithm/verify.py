"""Verification of one drafted tree: a pure function of topology, tokens, the two laws and a Chance
(paper: Algorithm 2).

`p` and `q` give, for a node, the law of the token after it: p(node), q(node) -> (vocab,) arrays
that sum to 1. They may hold floats or exact fractions; this file does not care, and the tests use
that. It does care that rounding in a float32 q does not become an error in the law: inside, q has
the number type of p and a sum of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.sampling import Chance, Drawn, likeliest
from sequoia.algorithm.tree import Tree

DistributionOf = Callable[[int], np.ndarray]
# (R, D, token) -> (R, D, mass)
Reject = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray, Any]]


@dataclass(frozen=True)
class Trial:
    """One drafted child held against the target.

    p and q are the two laws' weights of its token *at that moment* (p: the residual R, q: the draft
    law D without the tokens tried before). Accepted when u * q < p. `mass` is the total of
    max(R - D, 0) after a rejection: the share of the target's law that the draft had not covered;
    None after an acceptance.
    """

    node: int
    token: int
    p: Any
    q: Any
    u: float | None
    accepted: bool
    mass: Any = None


@dataclass(frozen=True)
class Verdict:
    """What a step decided: accepted nodes from the root on, the one token the target adds, and
    every trial in order."""

    path: tuple[int, ...]
    bonus: int
    trials: tuple[Trial, ...]


def without_replacement(
    residual: np.ndarray, draft: np.ndarray, token: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """R, D and the uncovered mass after `token` was rejected; D forgets the token, as its siblings
    were drawn without it."""
    residual, mass = _uncovered(residual, draft)
    draft = draft.copy()
    draft[token] = draft[token] * 0  # keeps the number type
    left = draft.sum()
    if left > 0:
        draft /= left
    return residual, draft, mass


def with_replacement(
    residual: np.ndarray, draft: np.ndarray, _token: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """The same for children drawn independently (SpecInfer): D stays as it is."""
    residual, mass = _uncovered(residual, draft)
    return residual, draft, mass


def _uncovered(residual: np.ndarray, draft: np.ndarray) -> tuple[np.ndarray, Any]:
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
    reject: Reject = without_replacement,
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


def match(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chance: Chance
) -> Verdict:
    """Let the target draw its token at every node and follow the child that carries
    it (top-k match)."""
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


@dataclass(frozen=True)
class Verifier:
    """A way to draw children and the verification that is lossless for it.
    `draw(chance, q, counts)` gives each row of q (rows, vocab) so many tokens."""

    name: str
    draw: Callable[[Chance, torch.Tensor, Sequence[int]], Drawn]
    verify: Callable[[Tree, Sequence[int], DistributionOf, DistributionOf, Chance], Verdict]


def _specinfer(
    tree: Tree, tokens: Sequence[int], p: DistributionOf, q: DistributionOf, chance: Chance
) -> Verdict:
    return walk(tree, tokens, p, q, chance, reject=with_replacement)


VERIFIERS = {
    v.name: v
    for v in (
        Verifier("sequoia", lambda chance, q, counts: chance.without_replacement(q, counts), walk),
        Verifier("specinfer", lambda chance, q, counts: chance.independent(q, counts), _specinfer),
        Verifier("topk", lambda _chance, q, counts: likeliest(q, counts), match),
    )
}
