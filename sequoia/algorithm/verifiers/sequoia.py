"""Verification of one drafted tree, from the root down (paper: Algorithm 2). The only randomness is
a Chance. Sequoia's rule draws siblings without replacement. Other rules that use `walk` differ in
how a rejection changes the distributions.

`p` (target) and `q` (draft) are functions of a node that return the distribution of the next token,
a (vocab,) array that sums to 1. The arrays hold floats, or exact fractions in tests. Rounding in a
float32 q must not bias the output, so q is converted to the dtype of p and renormalised. R and D
are the residuals of p and q after the rejections so far at a node; the residual mass is the sum of
max(R - D, 0)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from sequoia.algorithm.sampling import Chance
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import (
    DistributionOf,
    OnGpu,
    Reject,
    Trial,
    Verdict,
    Verifier,
)


def residual_after(residual: np.ndarray, draft: np.ndarray) -> tuple[np.ndarray, Any]:
    """The residual after a rejection, max(R - D, 0) scaled to sum to 1, and its sum before
    scaling."""
    rest = residual - draft
    np.maximum(rest, 0, out=rest)
    mass = rest.sum()
    # In exact arithmetic the sum is positive after a rejection. If rounding makes it 0, R and D are
    # equal up to rounding, and R is left as it is.
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
    """Go down from the root, accepting at most one child of each node. At a leaf, or if no child is
    accepted, sample a token from the target's residual distribution and end.

    tokens[node] is the token drafted for a node. The children of a node must have been drawn from
    q(node) in the way that `reject` assumes. Then the emitted tokens follow the target distribution
    for every tree and every draft.
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
                draft = uniform_except(draft, tried)
            weights = (
                residual[token],
                distribution[token] / total if draft is None else draft[token],
            )
            accepted, u = chance.accept(weights[1], weights[0])
            if accepted:
                break
            # D is computed only after a rejection: the first trial needs just one probability.
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


def residuals(
    p: np.ndarray, q: np.ndarray, tokens: Sequence[int], reject: Reject | None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """R and D before the trial of each sibling, and finally after the last trial. Every sibling is
    assumed to be rejected. tokens: the siblings' tokens in draft order. p, q (vocab,): the
    distributions after their parent. The numbers equal those in `walk`. If `reject` is None, R and
    D stay p and q."""
    residual = p
    draft = np.divide(q, q.sum(dtype=p.dtype), dtype=p.dtype)
    for index, token in enumerate(tokens):
        if not draft.any():
            draft = uniform_except(draft, tokens[:index])
        yield residual, draft
        if reject is not None:
            residual, draft, _ = reject(residual, draft, token)
    yield residual, draft


def walk_chances(p: np.ndarray, q: np.ndarray, tokens: Sequence[int], reject: Reject) -> list[Any]:
    """For each sibling, the probability that it is accepted if `walk` reaches its parent.
    tokens: the siblings' tokens in draft order. p, q (vocab,): the distributions after the
    parent."""
    found = []
    reached = 1
    pairs = residuals(p, q, tokens, reject)
    for token, (residual, draft) in zip(tokens, pairs, strict=False):
        accepted = _share_accepted(residual[token], draft[token])
        found.append(reached * accepted)
        reached = reached * (1 - accepted)
        if not reached:  # later siblings are never tried
            return [*found, *[reached] * (len(tokens) - len(found))]
    return found


def _share_accepted(r: Any, d: Any) -> Any:
    """The probability of u * d < r for u uniform on [0, 1)."""
    if r >= d:
        return 1 if r > 0 else 0
    return r / d


def uniform_except(draft: np.ndarray, tried: Sequence[int]) -> np.ndarray:
    """The distribution that replaces D once every token with q > 0 was tried: uniform over the
    tokens not tried yet. draft (vocab,): D, which is all zero then."""
    flat = draft + 1
    flat[list(tried)] = draft[list(tried)]
    return flat / flat.sum()


def without_replacement(
    residual: np.ndarray, draft: np.ndarray, token: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """R, D and the residual mass after `token` was rejected. `token` is removed from
    D, because later siblings were drawn without it. D is all zero if no other token is left."""
    residual, mass = residual_after(residual, draft)
    draft = draft.copy()
    draft[token] = draft[token] * 0  # not a plain 0, so that an exact fraction stays a fraction
    left = draft.sum()
    if left > 0:
        draft /= left
    return residual, draft, mass


SEQUOIA = Verifier(
    key="sequoia",
    label="Sequoia",
    about="children are sampled without replacement, and each is tested against what is left of "
    "the target’s distribution after the rejected ones; on a chain this is standard speculative "
    "sampling.",
    colour=("#a23a86", "#e79bd0"),
    marker="diamond",
    draw=lambda chance, q, counts: chance.without_replacement(q, counts),
    verify=partial(walk, reject=without_replacement),
    chances=partial(walk_chances, reject=without_replacement),
    reject=without_replacement,
    on_gpu=OnGpu(draw=lambda chance, q, k: chance.successive(q, k), replacing=False),
)
