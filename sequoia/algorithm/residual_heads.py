"""What is left of p and q at each trial of a walk, for its most probable tokens: enough for a
picture, and small enough for a file. Computed after the walk, from the distributions it looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verdict import Trial, Verdict
from sequoia.algorithm.verifiers.verifier import DistributionOf, Reject
from sequoia.algorithm.verifiers.walk import residuals

MOST = 6  # tokens of a head
LEAST = 0.005  # less probable tokens have no bar that could be seen


@dataclass(frozen=True)
class ResidualHead:
    """The residuals p and q at one moment of a walk, for at most MOST tokens.

    The first of `tokens` is the one that is tried, or that the target adds; the others follow by
    the larger of p and q, as far as that is at least LEAST. What is missing to 1 is the mass of all
    other tokens. q is empty where the target adds its token: only p counts there.
    """

    tokens: tuple[int, ...]
    p: tuple[float, ...]
    q: tuple[float, ...] = ()


def residual_heads(
    tree: Tree,
    verdict: Verdict,
    p: DistributionOf,
    q: DistributionOf,
    reject: Reject | None,
) -> tuple[ResidualHead, ...]:
    """The heads at each trial of `verdict`, in order, and at last where the target adds its token.
    p, q: of the nodes on the path, as the walk had them. reject: that of the verifier."""
    found = []
    residual = p(0)
    for node, trials in _by_parent(tree, verdict):
        residual = p(node)
        if not trials:  # a leaf
            break
        moments = residuals(residual, q(node), [trial.token for trial in trials], reject)
        for trial, (residual, draft) in zip(trials, moments, strict=False):
            found.append(_head(trial.token, residual, draft))
        if not trials[-1].accepted:
            residual, _ = next(moments)
    return (*found, _last_head(verdict.bonus, residual))


def _by_parent(tree: Tree, verdict: Verdict) -> Iterator[tuple[int, list[Trial]]]:
    """Each node of the path with the trials of its children."""
    for node in verdict.path:
        yield node, [trial for trial in verdict.trials if tree.parents[trial.node] == node]


def _head(token: int, p: np.ndarray, q: np.ndarray) -> ResidualHead:
    others = ((p >= LEAST) | (q >= LEAST)).nonzero()[0].tolist()
    others.sort(key=lambda other: max(p.item(other), q.item(other)), reverse=True)
    tokens = _headed(token, others)
    return ResidualHead(tokens, tuple(map(p.item, tokens)), tuple(map(q.item, tokens)))


def _last_head(token: int, p: np.ndarray) -> ResidualHead:
    others = (p >= LEAST).nonzero()[0].tolist()  # few; sorting all tokens would take longer
    others.sort(key=p.item, reverse=True)
    tokens = _headed(token, others)
    return ResidualHead(tokens, tuple(map(p.item, tokens)))


def _headed(first: int, tokens: Sequence[int]) -> tuple[int, ...]:
    """`first`, then the first of the other `tokens`."""
    others = [token for token in tokens[:MOST] if token != first]
    return (first, *others[: MOST - 1])
