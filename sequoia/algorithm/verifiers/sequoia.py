"""Sequoia's rule: siblings are drawn without replacement (paper: Algorithm 2)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sequoia.algorithm.verifiers.verifier import OnGpu, Verifier
from sequoia.algorithm.verifiers.walk import residual_after, walk, walk_chances


def without_replacement(
    residual: np.ndarray, draft: np.ndarray, token: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """R, D and the residual mass (see walk.py) after `token` was rejected. `token` is removed from
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
    drawn="without replacement",
    draw=lambda chance, q, counts: chance.without_replacement(q, counts),
    verify=partial(walk, reject=without_replacement),
    chances=partial(walk_chances, reject=without_replacement),
    reject=without_replacement,
    on_gpu=OnGpu(draw=lambda chance, q, k: chance.successive(q, k), replacing=False),
)
