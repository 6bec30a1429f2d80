"""From logits to probabilities: temperature, then top-p."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadModel

# At lower temperatures the distributions would be the same, but the divided logits would overflow
# to infinity and give NaN.
_MIN_TEMPERATURE = 1e-30
_UNCUT_SHARE = 1e-6  # share of q that ignores top-p, see draft_rows


Warp = Callable[[torch.Tensor], torch.Tensor]  # (..., vocab) logits -> (..., vocab) probabilities
Cut = Callable[[torch.Tensor, float], torch.Tensor]  # (..., vocab) probs, top-p -> cut probs


def target_rows(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """p, (..., vocab) float64, for the logits (..., vocab) under `params`. Temperature 0 gives
    one-hot rows.

    Raises BadModel if a logit is NaN or a row's largest logit is infinite.
    """
    return checked(target_warp(params)(logits), "target")


def row_warp(params: SamplingParams) -> Callable[[torch.Tensor], np.ndarray]:
    """`target_rows` as a function that takes one row of logits (vocab,) and returns a numpy array.
    It is faster for one row."""
    warp = target_warp(params)
    return lambda logits: (
        _greedy_row(logits) if params.temperature == 0 and logits.is_cpu else _row(warp(logits))
    )


def target_warp(params: SamplingParams, cut: Cut | None = None) -> Warp:
    """`target_rows` as a function that does not check for overflow, because a check would have to
    wait for the device. Rows that have overflowed are NaN. cut: replaces `nucleus`; it must return
    the same distribution."""
    if params.temperature == 0:
        return _one_hot
    uncut = _softmax(params.temperature, torch.float64)
    cut = cut or nucleus
    return uncut if params.top_p == 1 else lambda logits: cut(uncut(logits), params.top_p)


def draft_rows(logits: torch.Tensor, params: SamplingParams) -> torch.Tensor:
    """q, (..., vocab) float32, for the logits (..., vocab) under `params`. Children are drawn from
    it.

    At temperature 0 only the order of the draft's most probable tokens matters, so q is taken at
    temperature 1. Top-p may leave fewer tokens than a node has children, and the rest of the
    children would then be drawn uniformly. To draw them from the draft's distribution without top-p
    instead, a millionth of q's mass ignores top-p. This is lossless: verification uses the same q.
    """
    return checked(draft_warp(params)(logits), "draft")


def draft_warp(params: SamplingParams) -> Warp:
    """`draft_rows` as a function that does not check for overflow."""
    uncut = _softmax(params.temperature or 1.0, torch.float32)
    if params.temperature == 0 or params.top_p == 1:
        return uncut
    return lambda logits: _mostly_cut(uncut(logits), params.top_p)


def _mostly_cut(uncut: torch.Tensor, top_p: float) -> torch.Tensor:
    """`uncut` cut to `top_p`, except for a millionth of its mass."""
    return nucleus(uncut, top_p).mul_(1 - _UNCUT_SHARE).add_(uncut, alpha=_UNCUT_SHARE)


def nucleus(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """(..., vocab) `probs` cut to the smallest set of most probable tokens whose mass reaches
    `top_p`, renormalised."""
    if top_p >= 1:
        return probs
    # stable: of equally probable tokens, the one with the lower id comes first
    ordered, tokens = probs.sort(dim=-1, descending=True, stable=True)
    # total probability of the tokens before each token
    before = torch.nn.functional.pad(ordered.cumsum(-1)[..., :-1], (1, 0))
    kept = torch.zeros_like(probs).scatter_(-1, tokens, ordered.masked_fill_(before >= top_p, 0))
    return kept / kept.sum(-1, keepdim=True)


def _softmax(temperature: float, dtype: torch.dtype) -> Warp:
    """Softmax at a temperature above 0. Everything that depends only on the temperature is done
    here, because the returned function is called at every step."""
    if temperature == 1:
        return partial(torch.softmax, dim=-1, dtype=dtype)
    divisor = partial(_divisor, max(temperature, _MIN_TEMPERATURE), dtype)
    return lambda logits: torch.softmax(logits / divisor(logits.device), -1, dtype=dtype)


@lru_cache(maxsize=16)
def _divisor(temperature: float, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """(1,) `temperature`. Dividing by this tensor also converts to `dtype` in the same operation;
    dividing by a Python number would not."""
    return torch.tensor([temperature], dtype=dtype, device=device)


def _one_hot(logits: torch.Tensor) -> torch.Tensor:
    """(..., vocab) float64 rows with probability 1 at the largest logit. If that logit is not
    finite, the whole row is NaN."""
    largest, token = logits.max(-1, keepdim=True)
    zero = largest.double() * 0  # NaN if `largest` is not finite
    return zero.expand(logits.shape).clone().scatter_(-1, token, zero + 1)


def _greedy_row(logits: torch.Tensor) -> np.ndarray:
    """`_one_hot` of one row (vocab,) on a CPU. Raises BadModel as `checked` does."""
    # numpy has no bfloat16
    row = (logits.float() if logits.dtype == torch.bfloat16 else logits).numpy()
    token = row.argmax()  # NaN counts as the largest
    if not np.isfinite(row[token]):
        raise overflowed("target")
    distribution = np.zeros(len(row))
    distribution[token] = 1
    return distribution


def _row(distribution: torch.Tensor) -> np.ndarray:
    """One distribution (vocab,) on the host. Raises BadModel as `checked` does."""
    row = (distribution if distribution.is_cpu else distribution.cpu()).numpy()
    if math.isnan(row.item(0)):
        raise overflowed("target")
    return row


def checked(distributions: torch.Tensor, model: str) -> torch.Tensor:
    """`distributions` (..., vocab), unchanged. Raises BadModel if a logit was NaN or a row's
    largest logit was infinite. Either makes the whole row NaN, so looking at one column is
    enough."""
    if math.isnan(distributions[..., 0].sum()):
        raise overflowed(model)
    return distributions


def overflowed(model: str) -> BadModel:
    """The error for logits of the "target" or "draft" that are not finite."""
    return BadModel(
        f"the {model}'s logits contain NaN or infinity: the model overflowed in this precision; "
        "choose another precision"
    )
