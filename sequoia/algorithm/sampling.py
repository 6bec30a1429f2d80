"""Where randomness comes from. Decoding asks a Chance; it never draws by itself, so noise cannot
be reused by accident.

Tests pass an enumerator that visits every outcome and turns the law of the real `verify`
into exact fractions.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right, insort
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch

from sequoia.errors import BadModel

# children up to which drawing one after the other is cheaper than a race over the vocabulary
_FEW = 32
# children up to which looking for the greatest again and again is cheaper than a partial sort
_FEW_LIKELIEST = 8
# share of the law that must be left to go on drawing from it; less is lost in
# rounding, and raced for
_SCRAPS = 1e-12
_SURE = 0.999  # a law's sum is off 1 by less than what is missing here
Drawn = list[list[int]]  # tokens for each row, in draft order
# so far below the least positive float32 (1e-45) that such tokens lose every race against it
_ZERO_TIER = 1e-300


class Chance(Protocol):
    """Four questions with random answers. `q` is always the draft's law (rows, vocab), float32 or
    better, whose rows add up to 1 within rounding; `counts` says how many tokens each row is asked
    for, none more than vocab."""

    def accept(self, d: Any, r: Any) -> tuple[bool, float | None]:
        """Draw u in [0, 1); answer (u * d < r, u). Strict, so a token with r = 0 is never
        accepted."""
        ...

    def pick(self, weights: Any) -> int:
        """A token with chance proportional to `weights` (vocab,); a token of weight
        0 is never picked."""
        ...

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """Distinct tokens in draft order, drawn one after the other from q renormalised
        over what is left."""
        ...

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """Tokens each drawn from q by itself; the same token may come twice."""
        ...


class Seeded:
    """Production randomness: fresh draws at every call from generators that belong to one run."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self._host = random.Random(seed)
        self._drafting = random.Random(f"drafting {seed}")
        self._device = torch.Generator(device).manual_seed(seed)

    def accept(self, d: float, r: float) -> tuple[bool, float]:
        u = self._host.random()
        return bool(u * d < r), u

    def pick(self, weights: np.ndarray) -> int:
        heights = weights.cumsum(dtype=np.float64).data
        if not 0 < heights[-1] < math.inf:
            raise BadModel(
                f"probabilities that add up to {heights[-1]} and not to 1: the model's "
                "numbers have overflowed"
            )
        # u <= 1 - 2**-53, so u * total rounds to less than the total and the search ends at
        # a token with weight.
        return bisect_right(heights, self._host.random() * heights[-1])

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        if q.is_cpu and max(counts) <= _FEW:
            return self._distinct(q, counts)
        return _cut(self.successive(q, max(counts)), counts)

    def successive(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) tokens as `without_replacement` draws them, left on their device. A race of
        exponential clocks with rates q ends in the order of successive draws (Plackett-Luce);
        tokens with q = 0 come last, in uniform order."""
        clocks = self.noise(q.shape, q.device).neg_().log1p_().neg_()  # (rows, vocab)
        return (clocks / q.double().clamp_(min=_ZERO_TIER)).topk(k, largest=False).indices

    def _distinct(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """The same law with one random number a token. The first is looked for at the most
        probable token and then along the others, so that most draws of one token end before the
        law is summed up."""
        distributions = q.numpy()
        drawn: Drawn = []
        for row, (token, count) in enumerate(
            zip(distributions.argmax(-1).tolist(), counts, strict=True)
        ):
            u = self._drafting.random()
            sure = count == 1 and u < distributions.item(row, token) * _SURE
            drawn.append(
                [token] if sure else self._one_by_one(q[row], token, u, count) if count else []
            )
        return drawn

    def _one_by_one(self, distribution: torch.Tensor, top: int, u: float, count: int) -> list[int]:
        """`count` distinct tokens of one law (vocab,) whose most probable one is `top`, the first
        by `u`: the stretches of those drawn before are left out."""
        # bisect takes less than numpy's search
        heights = distribution.cumsum(-1, dtype=torch.float64).numpy().data
        total = left = heights[-1]
        start, length = _stretch(heights, top)
        at = u * total - length  # along the others
        token = top if at < 0 else bisect_right(heights, at if at < start else at + length)
        if count == 1 and token < len(heights):  # for speed: the loop says the same
            return [token]
        order = list[int]()
        taken = list[tuple[float, float]]()  # stretches as (start, length), increasing
        while (
            left > _SCRAPS * total and token < len(heights) and token not in order
        ):  # the last two by rounding alone
            order.append(token)
            if len(order) == count:
                return order
            insort(taken, stretch := _stretch(heights, token))
            left -= stretch[1]
            token = bisect_right(heights, _past(self._drafting.random() * left, taken))
        return self._finished(distribution, order, count)

    def _finished(self, distribution: torch.Tensor, order: list[int], count: int) -> list[int]:
        """`order`, completed to `count` tokens by a race among the others."""
        others = torch.ones(len(distribution), dtype=torch.bool)
        others[order] = False
        places = others.nonzero()[:, 0]
        return (
            order
            + places[self.successive(distribution[None, places], count - len(order))[0]].tolist()
        )

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        if q.is_cpu:
            heights = q.cumsum(-1, dtype=torch.float64).numpy()  # (rows, vocab)
            return [
                row[:-1]
                .searchsorted(
                    [self._drafting.random() * row[-1] for _ in range(count)], side="right"
                )
                .tolist()
                for row, count in zip(heights, counts, strict=True)
            ]
        return _cut(self.repeated(q, max(counts)), counts)

    def repeated(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) tokens as `independent` draws them, left on their device."""
        heights = q.cumsum(-1, dtype=torch.float64)  # (rows, vocab)
        return torch.searchsorted(
            heights[:, :-1].contiguous(),
            self.noise((len(q), k), q.device) * heights[:, -1:],
            right=True,
        )

    def noise(self, shape: Sequence[int], device: torch.device) -> torch.Tensor:
        """Fresh float64 in [0, 1). Coarser noise never draws the rare tokens that verification then
        counts as drawable."""
        return torch.rand(shape, dtype=torch.float64, device=device, generator=self._device)


def _stretch(heights: memoryview, token: int) -> tuple[float, float]:
    """Where a token's share of a law begins, and how long it is, by cumulative sums (vocab,)."""
    start = heights[token - 1] if token else 0.0
    return start, heights[token] - start


def _past(at: float, taken: Sequence[tuple[float, float]]) -> float:
    """Where `at` lies once the stretches `taken` (start, length), increasing, are counted as
    well."""
    for start, length in taken:
        if at < start:
            break
        at += length
    return at


class Greedy(Seeded):
    """The limit of all draws as the temperature goes to 0: the k most probable tokens in
    order, without noise."""

    def pick(self, weights: np.ndarray) -> int:
        # what is left of a law of one token is that token; who asks has seen that it is one
        return int(weights.argmax())

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        return likeliest(q, counts)

    def successive(self, q: torch.Tensor, k: int) -> torch.Tensor:
        return q.topk(k).indices

    independent = without_replacement
    repeated = successive


def likeliest(q: torch.Tensor, counts: Sequence[int]) -> Drawn:
    """The most probable tokens of each row of q (rows, vocab), in order."""
    if q.is_cpu and max(counts) <= _FEW_LIKELIEST:
        distributions = q.numpy()
        tops = distributions.argmax(-1).tolist()
        return [
            _greatest(distribution, top, count) if count > 1 else [top] * count
            for distribution, top, count in zip(distributions, tops, counts, strict=True)
        ]
    return _cut(q.topk(max(counts)).indices, counts)


def _greatest(distribution: np.ndarray, top: int, count: int) -> list[int]:
    """The `count` most probable tokens of one `distribution` (vocab,), in order, the first
    of which is `top`."""
    rest = distribution.copy()
    order = [top]
    while len(order) < count:
        rest[order[-1]] = -1
        order.append(int(rest.argmax()))
    return order


def _cut(tokens: torch.Tensor, counts: Sequence[int]) -> Drawn:
    """(rows, most) tokens, each row cut to its count."""
    return [row[:count] for row, count in zip(tokens.tolist(), counts, strict=True)]


def chance_for(temperature: float, seed: int, device: torch.device | str = "cpu") -> Chance:
    """The randomness of one run."""
    return (Greedy if temperature == 0 else Seeded)(seed, device)
