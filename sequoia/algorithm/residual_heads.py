"""The residuals of the target's p and the draft's q (R and D in sequoia.py) at each trial of a
walk, cut to the few most probable tokens: enough to draw a chart, and small enough to save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import residuals
from sequoia.algorithm.verifiers.verifier import DistributionOf, Reject, Trial, Verdict
from sequoia.checked_types import Count, Many, Probability

MOST = 6  # maximum tokens of a head
LEAST = 0.005  # the bars of less probable tokens would be too short to see


@dataclass(frozen=True)
class ResidualHead:
    """The residual p and q of at most MOST tokens, at one trial or at the end of a walk.

    The first of `tokens` is the tried token, or at the end the token that the target adds. Then
    come the tokens with the largest max(p, q), if that is at least LEAST. All further tokens are
    left out, so the values need not sum to 1. q is empty at the end, where the token is drawn from
    p alone.
    """

    tokens: Many[Count]
    p: Many[Probability]
    q: Many[Probability] = ()


def residual_heads(
    tree: Tree,
    verdict: Verdict,
    p: DistributionOf,
    q: DistributionOf,
    reject: Reject | None,
) -> tuple[ResidualHead, ...]:
    """The head at each trial of `verdict`, in order, then the head at the end, where the target
    adds its token. p, q: the distributions that the walk used. p is needed after each node of the
    path, q only after those with children. reject: as in Verifier."""
    found = []
    residual = p(0)
    for node, trials in _by_parent(tree, verdict):
        residual = p(node)
        if not trials:  # a leaf
            break
        pairs = residuals(residual, q(node), [trial.token for trial in trials], reject)
        for trial, (residual, draft) in zip(trials, pairs, strict=False):
            found.append(_head(trial.token, residual, draft))
        if not trials[-1].accepted:
            residual, _ = next(pairs)
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
    """`first`, then the other `tokens` in order, at most MOST in all."""
    others = [token for token in tokens[:MOST] if token != first]
    return (first, *others[: MOST - 1])
