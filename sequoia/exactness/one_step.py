"""What one step emits, exactly: every random outcome of a verifier on a small tree, with its
probability."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import verifier_named
from sequoia.errors import BadTree
from sequoia.exactness.losslessness.enumerator import distribution
from sequoia.exactness.losslessness.tested_models import Text, over_torch, step

MAX_NODES = 5
MAX_VOCAB = 4

Rows = Sequence[Sequence[float]]


def step_outcomes(p: Rows, q: Rows, tree: Tree, verifier: str) -> dict[tuple[int, ...], float]:
    """The probability of each sequence of tokens that a step can emit.

    p, q: the target's and the draft's distributions (levels, vocab): row d is that of every node at
    depth d. q needs no row for the last level. Raises BadTree for rows that do not fit `tree`, or
    for a tree or a vocabulary that is too large; BadSamplingParams for an unknown verifier.
    """
    rule = verifier_named(verifier)
    rows = _checked(p, "p", tree.levels), _checked(q, "q", tree.levels - 1)
    vocab = rows[0].shape[1]
    if len(tree) > 1 and rows[1].shape[1] != vocab:
        raise BadTree(f"p has rows of {vocab} numbers and q of {rows[1].shape[1]}; give as many")
    if len(tree) > MAX_NODES:
        raise BadTree(f"the tree has {len(tree)} nodes; all outcomes are tried up to {MAX_NODES}")
    widest = max(map(len, tree.children))
    if widest > vocab:
        raise BadTree(f"a node has {widest} children, more than the {vocab} tokens")
    models = (partial(_row, one) for one in rows)
    found = distribution(partial(step, tree, over_torch(rule), *models))
    return {tuple(tokens): float(share) for tokens, share in found.items()}  # type: ignore[arg-type]


def _row(rows: np.ndarray, context: Text) -> np.ndarray:
    return rows[len(context)]


def _checked(rows: Rows, name: str, needed: int) -> np.ndarray:
    """`rows` as an array (rows, vocab) with rows that sum to exactly 1 up to rounding."""
    try:
        found: np.ndarray = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim != 2 or not 2 <= found.shape[1] <= MAX_VOCAB:
        if needed == 0:
            return np.empty((0, 0))
        raise BadTree(f"{name}: give a list of rows, each with 2 to {MAX_VOCAB} probabilities")
    if len(found) < needed:
        raise BadTree(f"{name} has {len(found)} rows; this tree needs {needed}, one for each level")
    if not ((found >= 0) & (found <= 1)).all() or abs(found.sum(1) - 1).max() > 1e-6:
        raise BadTree(f"{name}: the probabilities of each row must be 0 or more and sum to 1")
    return found / found.sum(1, keepdims=True)
