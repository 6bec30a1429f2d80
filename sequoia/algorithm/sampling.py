"""From probabilities to tokens.

All random draws of decoding go through a Chance, so no random number is used twice by accident. An
Enumerator (exactness/losslessness/enumerator.py) can replace the random numbers. It visits every
outcome, which gives the exact output distribution of the real verifiers."""

from __future__ import annotations

import math
import random
from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch

from sequoia.errors import BadModel

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
