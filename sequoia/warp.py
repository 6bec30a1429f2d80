"""From logits to the distributions that decoding is about: temperature, then top-p. The same warp for target and draft."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch

from .errors import BadModel
from .policy import Policy

_COLDEST = 1e-30  # colder ones give the same rows, and would overflow logits into infinity and the rows into NaN
_SPARE = 1e-6  # share of the draft's law spread over what top-p cut off


def target_rows(logits: torch.Tensor, policy: Policy) -> torch.Tensor:
    """p, float64: (..., vocab) logits under `policy`. Temperature 0 gives one-hot rows; nothing else is special about it.

    Raises BadModel where a row has NaN or infinity for its greatest logit: at temperature 0 nothing later would notice.
    """
    return checked(target_laws(logits, policy), "target")


def target_row(logits: torch.Tensor, policy: Policy) -> np.ndarray:
    """`target_rows` of one row (vocab,), on the host, as a walk asks for them, with fewer operations."""
    if policy.temperature > 0 or logits.device.type != "cpu":
        law = target_laws(logits, policy).cpu().numpy()
        finite = not math.isnan(law.item(0))
    else:
        row = (logits.float() if logits.dtype == torch.bfloat16 else logits).numpy()  # a type that numpy lacks
        law, token = np.zeros(len(row)), row.argmax()  # a NaN counts as the greatest
        finite, law[token] = np.isfinite(row[token]), 1
    if not finite:
        raise overflowed("target")
    return law


def target_laws(logits: torch.Tensor, policy: Policy) -> torch.Tensor:
    """`target_rows` without a look at its numbers, for which a device would have to be waited for: such rows are NaN."""
    if policy.temperature == 0:
        return _one_hot(logits)
    return nucleus(_softmax(logits, policy.temperature, torch.float64), policy.top_p)


def draft_rows(logits: torch.Tensor, policy: Policy) -> torch.Tensor:
    """q, float32: (..., vocab) logits under `policy`, what children are drawn from.

    At temperature 0 the order of the draft's most probable tokens is all that counts, so q stays at temperature 1.
    Where top-p leaves fewer tokens than a node has children, the rest are drawn by the draft's uncut law and not
    uniformly: a millionth of q is spread over it, which any verifier of q takes into account.
    """
    return checked(draft_laws(logits, policy), "draft")


def draft_laws(logits: torch.Tensor, policy: Policy) -> torch.Tensor:
    """`draft_rows` without a look at its numbers."""
    uncut = _softmax(logits, policy.temperature or 1.0, torch.float32)
    if policy.temperature == 0 or policy.top_p == 1:
        return uncut
    return nucleus(uncut, policy.top_p).mul_(1 - _SPARE).add_(uncut, alpha=_SPARE)


def nucleus(probs: torch.Tensor, top_p: float) -> torch.Tensor:
    """(..., vocab) `probs` cut to the smallest set of most probable tokens whose mass reaches `top_p`, renormalised."""
    if top_p >= 1:
        return probs
    ordered, tokens = probs.sort(dim=-1, descending=True, stable=True)  # of equals, the lower id comes first
    before = torch.nn.functional.pad(ordered.cumsum(-1)[..., :-1], (1, 0))  # mass of the tokens ahead of each
    kept = torch.zeros_like(probs).scatter_(-1, tokens, ordered.masked_fill_(before >= top_p, 0))
    return kept / kept.sum(-1, keepdim=True)


def _softmax(logits: torch.Tensor, temperature: float, dtype: torch.dtype) -> torch.Tensor:
    if temperature == 1:
        return torch.softmax(logits, -1, dtype=dtype)
    return torch.softmax(logits / _divisor(max(temperature, _COLDEST), dtype, logits.device), -1, dtype=dtype)


@lru_cache(maxsize=16)
def _divisor(temperature: float, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """(1,) `temperature`. What is divided by it comes in `dtype`, in one operation, where a mere number would leave its type."""
    return torch.tensor([temperature], dtype=dtype, device=device)


def _one_hot(logits: torch.Tensor) -> torch.Tensor:
    """(..., vocab) float64 rows with all mass on the greatest logit; all NaN where that is not finite."""
    greatest, token = logits.max(-1, keepdim=True)
    nothing = greatest.double() * 0
    return nothing.expand(logits.shape).clone().scatter_(-1, token, nothing + 1)


def checked(laws: torch.Tensor, whose: str) -> torch.Tensor:
    """`laws` (..., vocab). Raises BadModel where a logit was NaN or the greatest one infinite, which makes NaN of its whole row:
    one column tells."""
    if math.isnan(laws[..., 0].sum()):
        raise overflowed(whose)
    return laws


def overflowed(whose: str) -> BadModel:
    return BadModel(f"the {whose}'s logits hold NaN or infinity, not finite numbers: its number type has overflowed")
