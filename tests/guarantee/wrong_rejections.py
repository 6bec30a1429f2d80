"""Wrong ways to compute the residual and the draft distribution after a rejection. The tests of
losslessness must find each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from doors import with_replacement, without_replacement

Distributions = tuple[np.ndarray, np.ndarray, Any]


def normalised(distribution: np.ndarray) -> np.ndarray:
    return distribution / distribution.sum() if distribution.any() else distribution


def p_for_every_sibling(residual: np.ndarray, draft: np.ndarray, token: int) -> Distributions:
    return residual, *without_replacement(residual, draft, token)[1:]


def residual_after_masking(residual: np.ndarray, draft: np.ndarray, token: int) -> Distributions:
    _, masked, mass = without_replacement(residual, draft, token)
    rest = np.maximum(residual - masked, 0)
    return (normalised(rest) if rest.any() else residual), masked, mass


def residual_of_absolute_differences(
    residual: np.ndarray, draft: np.ndarray, token: int
) -> Distributions:
    return normalised(abs(residual - draft)), *without_replacement(residual, draft, token)[1:]


def residual_with_the_token_zeroed(
    residual: np.ndarray, draft: np.ndarray, token: int
) -> Distributions:
    rest = residual.copy()
    rest[token] *= 0
    return (normalised(rest) if rest.any() else residual), *without_replacement(
        residual, draft, token
    )[1:]


def q_not_renormalised(residual: np.ndarray, draft: np.ndarray, token: int) -> Distributions:
    masked = draft.copy()
    masked[token] *= 0
    return without_replacement(residual, draft, token)[0], masked, None


q_not_masked = with_replacement  # right for independent draws, wrong without replacement

REJECTIONS = [
    p_for_every_sibling,
    residual_after_masking,
    residual_of_absolute_differences,
    residual_with_the_token_zeroed,
    q_not_masked,
    q_not_renormalised,
]
