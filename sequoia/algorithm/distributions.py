"""From logits to probabilities: temperature, then top-p."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadModel

# At lower temperatures the distributions would be the same, but the divided logits would overflow
# to infinity and give NaN.
_MIN_TEMPERATURE = 1e-30
_UNCUT_SHARE = 1e-6  # share of q that ignores top-p, see draft_rows
# The nucleus is searched for among this many of the most probable tokens; in rows where it is
# larger, among the next number of them, and at last among all.
_LIKELIEST = (256, 4096)
_LIKELY = 1e-4  # probability; in most rows of a model, the nucleus has no token below it


class Warp(Protocol):
    """Turns logits (..., vocab) into probabilities of the same shape."""

    def __call__(self, logits: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        """out: where to write the probabilities, on a CPU; with a large vocabulary, new memory
        takes longer than the computation."""
        ...


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


def target_warp(params: SamplingParams) -> Warp:
    """`target_rows` as a function that does not check for overflow, because a check would have to
    wait for the device. Rows that have overflowed are NaN."""
    if params.temperature == 0:
        return _one_hot
    return _cut_softmax(params.temperature, torch.float64, params.top_p)


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
    top_p = params.top_p if params.temperature else 1.0
    return _cut_softmax(params.temperature or 1.0, torch.float32, top_p, _UNCUT_SHARE)


def _cut_softmax(temperature: float, dtype: torch.dtype, top_p: float, share: float = 0.0) -> Warp:
    """Softmax at a temperature above 0, then `cut`. Everything that depends only on the temperature
    is done here, because the returned function is called at every step."""
    divisor = partial(_divisor, max(temperature, _MIN_TEMPERATURE), dtype)

    def warp(logits: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
        if temperature != 1:
            logits = torch.div(logits, divisor(logits.device), out=out)
        probs = torch.softmax(logits, -1, dtype=dtype, out=out)
        return probs if top_p == 1 else cut(probs, top_p, share)

    return warp


def cut(probs: torch.Tensor, top_p: float, share: float = 0.0) -> torch.Tensor:
    """Cut `probs` (..., vocab), in place, to the nucleus: the smallest set of most probable tokens
    whose mass reaches `top_p`. Of equally probable tokens, those with the lowest ids are in it.
    share: of each row's mass, what is not cut. Each row still sums to 1."""
    vocab = probs.shape[-1]
    rows = probs.view(-1, vocab)
    sizes = [k for k in _LIKELIEST if k < vocab]
    if rows.is_cpu:
        larger = [i for i, row in enumerate(rows.numpy()) if not _cut_likely(row, top_p, share)]
        if larger:
            others = rows[larger]
            _cut(others, top_p, share, sizes[1:])
            rows[larger] = others
    else:
        _cut(rows, top_p, share, sizes)
    return probs


def _cut_likely(row: np.ndarray, top_p: float, share: float) -> bool:
    """`cut` for one row (vocab,), unless tokens below the probability _LIKELY are in the nucleus.
    Returns whether the row was cut. On a CPU this is faster than topk."""
    tokens = np.flatnonzero(row >= _LIKELY)
    chosen = row[tokens]
    order = np.argsort(-chosen, kind="stable")  # of equally probable tokens, lower ids first
    last = int(chosen[order].cumsum().searchsorted(top_p))
    if last == len(order):
        return False
    nucleus = order[: last + 1]
    chosen = chosen[nucleus]
    chosen *= (1 - share) / chosen.sum()
    row *= share
    row[tokens[nucleus]] += chosen
    return True


def _cut(rows: torch.Tensor, top_p: float, share: float, likeliest: Sequence[int]) -> None:
    """`cut` for rows (rows, vocab). likeliest: how many tokens to search, see _LIKELIEST."""
    if not likeliest:
        _cut_sorted(rows, top_p, share)
        return
    ordered, tokens = rows.topk(likeliest[0])
    kept = _before(ordered) < top_p
    larger = kept[:, -1]
    others = rows[larger]
    _take_lowest_ids(rows, ordered, tokens, kept)
    chosen = ordered.masked_fill_(~kept, 0)
    chosen *= (1 - share) / chosen.sum(-1, keepdim=True)
    rows.mul_(share).scatter_add_(-1, tokens, chosen)
    if len(others):
        _cut(others, top_p, share, likeliest[1:])
        rows[larger] = others


def _before(ordered: torch.Tensor) -> torch.Tensor:
    """The total probability of the tokens before each token."""
    return torch.nn.functional.pad(ordered.cumsum(-1)[:, :-1], (1, 0))


def _cut_sorted(rows: torch.Tensor, top_p: float, share: float) -> None:
    """`cut` for rows (rows, vocab) of any kind, by sorting their probabilities."""
    if rows.is_cpu:  # numpy is three times as fast
        ordered = torch.from_numpy(np.sort(rows.numpy())).flip(-1)
    else:
        ordered = rows.sort(-1, descending=True).values
    count = (_before(ordered) < top_p).sum(-1, keepdim=True)
    least = ordered.gather(-1, count - 1)
    equal = rows == least
    room = count - (ordered > least).sum(-1, keepdim=True)
    chosen = rows * ((rows > least) | (equal & (equal.cumsum(-1) <= room)))
    chosen *= (1 - share) / chosen.sum(-1, keepdim=True)
    rows.mul_(share).add_(chosen)


def _take_lowest_ids(
    rows: torch.Tensor, ordered: torch.Tensor, tokens: torch.Tensor, kept: torch.Tensor
) -> None:
    """If only some of several equally probable tokens are `kept`, change `tokens` to those with the
    lowest ids. ordered, tokens, kept: (rows, k), of the k most probable tokens in rows (rows,
    vocab). Does not matter for rows that keep all k."""
    count = kept.sum(-1, keepdim=True)
    least = ordered.gather(-1, count - 1)
    tied = (ordered.gather(-1, count.clamp(max=kept.shape[-1] - 1)) == least)[:, 0]
    if not tied.any():
        return
    at_the_edge = kept[tied] & (ordered[tied] == least[tied])
    equal = rows[tied] == least[tied]
    lowest = equal & (equal.cumsum(-1) <= at_the_edge.sum(-1, keepdim=True))
    tokens[tied] = tokens[tied].masked_scatter(at_the_edge, lowest.nonzero()[:, 1])


@lru_cache(maxsize=16)
def _divisor(temperature: float, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """(1,) `temperature`. Dividing by this tensor also converts to `dtype` in the same operation;
    dividing by a Python number would not."""
    return torch.tensor([temperature], dtype=dtype, device=device)


def _one_hot(logits: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """(..., vocab) float64 rows with probability 1 at the largest logit. If that logit is not
    finite, the whole row is NaN."""
    largest, token = logits.max(-1, keepdim=True)
    zero = largest.double() * 0  # NaN if `largest` is not finite
    return torch.mul(zero, torch.ones_like(logits), out=out).scatter_(-1, token, zero + 1)


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
