"""From logits to probabilities (temperature, then top-p), and from probabilities to tokens.

All random draws of decoding go through a Chance, so no random number is used twice by accident. An
Enumerator (exactness/losslessness/enumerator.py) can replace the random numbers. It visits every
outcome, which gives the exact output distribution of the real verifiers."""

from __future__ import annotations

import math
import random
from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol

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


# Up to this many children, drawing one by one is faster than an exponential race over the
# vocabulary (see Seeded.successive).
_MAX_ONE_BY_ONE = 32
# Up to this many children, repeated argmax is faster than a partial sort.
_MAX_REPEATED_ARGMAX = 8
# If the tokens drawn so far leave less than this share of a distribution, rounding errors dominate,
# and the remaining tokens are drawn by an exponential race.
_MIN_LEFT = 1e-12
_NEAR_ONE = 0.999  # rounding changes a distribution's sum by less than 1 - _NEAR_ONE
Drawn = list[list[int]]  # tokens for each row, in draft order
# Rate of tokens with q = 0 in an exponential race: so far below the smallest positive float32
# (1e-45) that they arrive after all others.
_ZERO_RATE = 1e-300


class Chance(Protocol):
    """The four random operations of decoding. `q` (rows, vocab) contains draft distributions in
    float32 or wider; each row sums to 1 up to rounding. `counts` (rows,) is the number of tokens to
    draw from each row, at most vocab."""

    def accept(self, d: Any, r: Any) -> tuple[bool, float | None]:
        """Draw u in [0, 1) and return (u * d < r, u). d, r: usually the residual draft and target
        probability of a token. The comparison is strict, so r = 0 is never accepted."""
        ...

    def pick(self, weights: Any) -> int:
        """A token drawn with probability proportional to `weights` (vocab,), never one of weight
        0."""
        ...

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """Distinct tokens in draft order, drawn one after another from q renormalised over the
        remaining tokens."""
        ...

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """Tokens drawn from q independently. The same token can occur twice."""
        ...


class Seeded:
    """The randomness of real runs: every call makes fresh draws from generators that belong to one
    run."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self._host = random.Random(seed)
        self._drafting = random.Random(f"drafting {seed}")
        self._device = torch.Generator(device).manual_seed(seed)

    def accept(self, d: float, r: float) -> tuple[bool, float]:
        u = self._host.random()
        return bool(u * d < r), u

    def pick(self, weights: np.ndarray) -> int:
        cumulative = weights.cumsum(dtype=np.float64).data
        if not 0 < cumulative[-1] < math.inf:
            raise BadModel(
                f"the probabilities sum to {cumulative[-1]} instead of 1: the model overflowed in "
                "this precision; choose another precision"
            )
        # u <= 1 - 2**-53, so u * total rounds to less than the total, and the search ends at a
        # token whose weight is not 0.
        return bisect_right(cumulative, self._host.random() * cumulative[-1])

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        if q.is_cpu and max(counts) <= _MAX_ONE_BY_ONE:
            return self._distinct(q, counts)
        return _first(self.successive(q, max(counts)), counts)

    def successive(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) tokens with the same distribution as those of `without_replacement`, on the
        device of `q`. They are the first k to arrive in an exponential race: each token arrives
        after an exponentially distributed time with rate q. The order of arrival has the
        distribution of successive draws (Plackett-Luce). Tokens with q = 0 come last, in uniformly
        random order."""
        times = self.noise(q.shape, q.device).neg_().log1p_().neg_()  # (rows, vocab)
        rates = q.to(torch.float64, copy=True).clamp_(min=_ZERO_RATE)
        return (times / rates).topk(k, largest=False).indices

    def _distinct(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """`without_replacement` with about one random number per drawn token; the race in
        `successive` needs one per token of the vocabulary. The most probable token is tried first.
        If only one token is needed and the most probable one is drawn, cumulative sums are almost
        never computed."""
        distributions = q.numpy()
        drawn: Drawn = []
        for row, (token, count) in enumerate(
            zip(distributions.argmax(-1).tolist(), counts, strict=True)
        ):
            u = self._drafting.random()
            certain = count == 1 and u < distributions.item(row, token) * _NEAR_ONE
            drawn.append(
                [token]
                if certain
                else self._one_by_one(distributions[row], token, u, count)
                if count
                else []
            )
        return drawn

    def _one_by_one(self, distribution: np.ndarray, top: int, u: float, count: int) -> list[int]:
        """`count` distinct tokens of one distribution (vocab,), whose most probable token is `top`.
        The first is drawn with `u`. Each token has an interval of the cumulative sums; the
        intervals of tokens that are already drawn are skipped."""
        # bisect is faster here than numpy's search
        cumulative = torch.from_numpy(distribution).cumsum(-1, dtype=torch.float64).numpy().data
        total = left = cumulative[-1]
        interval = _interval(cumulative, top)
        # position on the line from which the top token's interval is cut out; negative: draw `top`
        at = u * total - interval[1]
        token = top if at < 0 else bisect_right(cumulative, _skip(at, [interval]))
        if count == 1 and token < len(cumulative):  # for speed: the loop has the same result
            return [token]
        order = list[int]()
        drawn = list[tuple[float, float]]()  # intervals (start, length), increasing
        while (
            left > _MIN_LEFT * total and token < len(cumulative) and token not in order
        ):  # the last two conditions can be false only by rounding
            order.append(token)
            if len(order) == count:
                return order
            insort(drawn, interval := _interval(cumulative, token))
            left -= interval[1]
            token = bisect_right(cumulative, _skip(self._drafting.random() * left, drawn))
        return self._completed(torch.from_numpy(distribution), order, count)

    def _completed(self, distribution: torch.Tensor, order: list[int], count: int) -> list[int]:
        """`order`, completed to `count` tokens by an exponential race among the other tokens."""
        is_other = torch.ones(len(distribution), dtype=torch.bool)
        is_other[order] = False
        others = is_other.nonzero()[:, 0]
        drawn = self.successive(distribution[None, others], count - len(order))[0]
        return order + others[drawn].tolist()

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        if q.is_cpu:
            cumulative = q.cumsum(-1, dtype=torch.float64).numpy()  # (rows, vocab)
            return [
                row[:-1]
                .searchsorted(
                    [self._drafting.random() * row[-1] for _ in range(count)], side="right"
                )
                .tolist()
                for row, count in zip(cumulative, counts, strict=True)
            ]
        return _first(self.repeated(q, max(counts)), counts)

    def repeated(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) tokens with the same distribution as those of `independent`, on the device of
        `q`."""
        cumulative = q.cumsum(-1, dtype=torch.float64)  # (rows, vocab)
        return torch.searchsorted(
            cumulative[:, :-1].contiguous(),
            self.noise((len(q), k), q.device) * cumulative[:, -1:],
            right=True,
        )

    def noise(self, shape: Sequence[int], device: torch.device) -> torch.Tensor:
        """Fresh uniform float64 numbers in [0, 1). With coarser numbers some rare tokens would be
        drawn never or too often, although verification assumes that they are drawn from q."""
        return torch.rand(shape, dtype=torch.float64, device=device, generator=self._device)


def _interval(cumulative: memoryview, token: int) -> tuple[float, float]:
    """(start, length) of a token's interval in the cumulative sums (vocab,)."""
    start = cumulative[token - 1] if token else 0.0
    return start, cumulative[token] - start


def _skip(at: float, drawn: Sequence[tuple[float, float]]) -> float:
    """Converts `at`, a position on the line from which the intervals `drawn` are cut out, to a
    position in the cumulative sums. drawn: (start, length) in increasing order."""
    for start, length in drawn:
        if at < start:
            break
        at += length
    return at


class Greedy(Seeded):
    """Draws at temperature 0, without noise: always the k most probable tokens in order. This is
    the limit of draws without replacement as the temperature goes to 0. Independent draws would all
    give the most probable token. Siblings with the same token would be useless, so `independent`
    returns different tokens, too."""

    def pick(self, weights: np.ndarray) -> int:
        # At temperature 0 the residual is a single token. The caller has checked for overflow.
        return int(weights.argmax())

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        return likeliest(q, counts)

    def successive(self, q: torch.Tensor, k: int) -> torch.Tensor:
        return q.topk(k).indices

    independent = without_replacement
    repeated = successive


def likeliest(q: torch.Tensor, counts: Sequence[int]) -> Drawn:
    """The `counts[i]` most probable tokens of each row i of q (rows, vocab), in order."""
    if q.is_cpu and max(counts) <= _MAX_REPEATED_ARGMAX:
        distributions = q.numpy()
        tops = distributions.argmax(-1).tolist()
        return [
            _most_probable(distribution, top, count) if count > 1 else [top] * count
            for distribution, top, count in zip(distributions, tops, counts, strict=True)
        ]
    return _first(q.topk(max(counts)).indices, counts)


def _most_probable(distribution: np.ndarray, top: int, count: int) -> list[int]:
    """The `count` most probable tokens of one `distribution` (vocab,), in order. The first one is
    `top`."""
    rest = distribution.copy()
    order = [top]
    while len(order) < count:
        rest[order[-1]] = -1
        order.append(int(rest.argmax()))
    return order


def _first(tokens: torch.Tensor, counts: Sequence[int]) -> Drawn:
    """Tokens (rows, k), each row cut to its count."""
    return [row[:count] for row, count in zip(tokens.tolist(), counts, strict=True)]


def chance_for(temperature: float, seed: int, device: torch.device | str = "cpu") -> Chance:
    """The randomness of one run."""
    return (Greedy if temperature == 0 else Seeded)(seed, device)
