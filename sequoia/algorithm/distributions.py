"""From logits to the distributions that decoding is about: temperature, then top-p. The same warp
for target and draft."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadModel

# colder ones give the same rows, and would overflow logits into infinity and the rows into NaN
_COLDEST = 1e-30
_SPARE = 1e-6  # share of the draft's law spread over what top-p cut off


Warp = Callable[[torch.Tensor], torch.Tensor]  # from (..., vocab) logits to as many distributions


def target_rows(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """p, float64: (..., vocab) logits under `params`. Temperature 0 gives one-hot rows; nothing
    else is special about it.

    Raises BadModel where a row has NaN or infinity for its greatest logit: at temperature 0
    nothing later would notice.
    """
    return checked(target_warp(params)(logits), "target")


def row_warp(params: SamplingParams) -> Callable[[torch.Tensor], np.ndarray]:
    """What makes `target_rows` of one row of logits (vocab,), on the host, as a walk asks for them,
    with fewer operations."""
    warp = target_warp(params)
    return lambda logits: (
        _greedy_row(logits) if params.temperature == 0 and logits.is_cpu else _row(warp(logits))
    )


def target_warp(params: SamplingParams) -> Warp:
    """What makes `target_rows` without a look at their numbers, for which a device would have to be
    waited for: such rows are NaN."""
    if params.temperature == 0:
        return _one_hot
    uncut = _softmax(params.temperature, torch.float64)
    return uncut if params.top_p == 1 else lambda logits: nucleus(uncut(logits), params.top_p)


def draft_rows(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """q, float32: (..., vocab) logits under `params`, what children are drawn from.

    At temperature 0 the order of the draft's most probable tokens is all that counts, so q stays at
    temperature 1. Where top-p leaves fewer tokens than a node has children, the rest are drawn by
    the draft's uncut law and not uniformly: a millionth of q is spread over it, which any verifier
    of q takes into account.
    """
    return checked(draft_warp(params)(logits), "draft")


def draft_warp(params: SamplingParams) -> Warp:
    """What makes `draft_rows` without a look at their numbers."""
    uncut = _softmax(params.temperature or 1.0, torch.float32)
    if params.temperature == 0 or params.top_p == 1:
        return uncut
    return lambda logits: _spread(uncut(logits), params.top_p)


def _spread(uncut: torch.Tensor, top_p: float) -> torch.Tensor:
    """`uncut` cut by `top_p`, but for a millionth of it."""
    return nucleus(uncut, top_p).mul_(1 - _SPARE).add_(uncut, alpha=_SPARE)


def nucleus(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """(..., vocab) `probs` cut to the smallest set of most probable tokens whose mass reaches
    `top_p`, renormalised."""
    if top_p >= 1:
        return probs
    # of equals, the lower id comes first
    ordered, tokens = probs.sort(dim=-1, descending=True, stable=True)
    # mass of the tokens ahead of each
    before = torch.nn.functional.pad(ordered.cumsum(-1)[..., :-1], (1, 0))
    kept = torch.zeros_like(probs).scatter_(-1, tokens, ordered.masked_fill_(before >= top_p, 0))
    return kept / kept.sum(-1, keepdim=True)


def _softmax(temperature: float, dtype: torch.dtype) -> Warp:
    """What makes laws of logits at a temperature above 0; what there is to decide is decided here,
    as steps are short."""
    if temperature == 1:
        return partial(torch.softmax, dim=-1, dtype=dtype)
    divisor = partial(_divisor, max(temperature, _COLDEST), dtype)
    return lambda logits: torch.softmax(logits / divisor(logits.device), -1, dtype=dtype)


@lru_cache(maxsize=16)
def _divisor(temperature: float, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """(1,) `temperature`. What is divided by it comes in `dtype`, in one operation, where a mere
    number would leave its type."""
    return torch.tensor([temperature], dtype=dtype, device=device)


def _one_hot(logits: torch.Tensor) -> torch.Tensor:
    """(..., vocab) float64 rows with all mass on the greatest logit; all NaN where
    that is not finite."""
    greatest, token = logits.max(-1, keepdim=True)
    nothing = greatest.double() * 0
    return nothing.expand(logits.shape).clone().scatter_(-1, token, nothing + 1)


def _greedy_row(logits: torch.Tensor) -> np.ndarray:
    """`_one_hot` of one row (vocab,) on a CPU. Raises BadModel as `checked` does."""
    # a type that numpy lacks
    row = (logits.float() if logits.dtype == torch.bfloat16 else logits).numpy()
    token = row.argmax()  # a NaN counts as the greatest
    if not np.isfinite(row[token]):
        raise overflowed("target")
    distribution = np.zeros(len(row))
    distribution[token] = 1
    return distribution


def _row(distribution: torch.Tensor) -> np.ndarray:
    """One law (vocab,) on the host. Raises BadModel as `checked` does."""
    row = (distribution if distribution.is_cpu else distribution.cpu()).numpy()
    if math.isnan(row.item(0)):
        raise overflowed("target")
    return row


def checked(distributions: torch.Tensor, whose: str) -> torch.Tensor:
    """`distributions` (..., vocab). Raises BadModel where a logit was NaN or the greatest one
    infinite, which makes NaN of its whole row: one column tells."""
    if math.isnan(distributions[..., 0].sum()):
        raise overflowed(whose)
    return distributions


def overflowed(whose: str) -> BadModel:
    return BadModel(
        f"the {whose}'s logits hold NaN or infinity, not finite numbers: its number "
        "type has overflowed"
    )
