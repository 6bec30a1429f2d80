"""SpecInfer's rule: siblings are drawn independently, so two of them can have the same token. At
temperature 0, all siblings are different (see Greedy in sampling.py)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sequoia.algorithm.verifiers.sequoia import residual_after, walk, walk_chances
from sequoia.algorithm.verifiers.verifier import OnGpu, Verifier


def with_replacement(
    residual: np.ndarray, draft: np.ndarray, _token: int
) -> tuple[np.ndarray, np.ndarray, Any]:
    """R, D and the residual mass (see sequoia.py) after a token was rejected. D does not change."""
    residual, mass = residual_after(residual, draft)
    return residual, draft, mass


SPECINFER = Verifier(
    key="specinfer",
    label="SpecInfer",
    about="sampled with replacement, so siblings may carry the same token.",
    colour=("#2e7d32", "#7fd184"),
    marker="triangle-left",
    draw=lambda chance, q, counts: chance.independent(q, counts),
    verify=partial(walk, reject=with_replacement),
    chances=partial(walk_chances, reject=with_replacement),
    reject=with_replacement,
    on_gpu=OnGpu(draw=lambda chance, q, k: chance.repeated(q, k), replacing=True),
)
