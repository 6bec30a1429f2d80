"""Where randomness comes from. Decoding asks a Chance; it never draws by itself, so noise cannot be reused by accident.

Tests pass an enumerator that visits every outcome and turns the law of the real `verify` into exact fractions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch

from .errors import BadModel

_FEW, _TRIES = 32, 4  # children up to which independent draws are the cheaper way, and how often they are tried
Drawn = list[list[int]]  # tokens for each row, in draft order
_ZERO_TIER = 1e-300  # so far below the least positive float32 (1e-45) that such tokens lose every race against it


class Chance(Protocol):
    """Four questions with random answers. `q` is always the draft's law (rows, vocab), float32 or better; `counts` says how
    many tokens each row is asked for, none more than vocab."""

    def accept(self, d: Any, r: Any) -> tuple[bool, float | None]:
        """Draw u in [0, 1); answer (u * d < r, u). Strict, so a token with r = 0 is never accepted."""
        ...

    def pick(self, weights: Any) -> int:
        """A token with chance proportional to `weights` (vocab,); a token of weight 0 is never picked."""
        ...

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """Distinct tokens in draft order, drawn one after the other from q renormalised over what is left."""
        ...

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """Tokens each drawn from q by itself; the same token may come twice."""
        ...


class Seeded:
    """Production randomness: fresh draws at every call from generators that belong to one run."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self._host = random.Random(seed)
        self._many = np.random.default_rng(seed)  # for the host's draws of several numbers at once
        self._device = torch.Generator(device).manual_seed(seed)

    def accept(self, d: float, r: float) -> tuple[bool, float]:
        u = self._host.random()
        return bool(u * d < r), u

    def pick(self, weights: np.ndarray) -> int:
        heights = np.cumsum(weights, dtype=np.float64)
        if not 0 < heights[-1] < np.inf:
            raise BadModel(f"probabilities that add up to {heights[-1]} and not to 1: the model's numbers have overflowed")
        # u <= 1 - 2**-53, so u * total rounds to less than the total and the search ends at a token with weight.
        return int(np.searchsorted(heights, self._host.random() * heights[-1], side="right"))

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        if q.device.type == "cpu" and max(counts) <= _FEW:
            return self._distinct(q, counts)
        return _cut(self._race(q, max(counts)), counts)

    def _race(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k). A race of exponential clocks with rates q ends in the order of successive draws (Plackett-Luce). Tokens
        with q = 0 come last, in uniform order."""
        clocks = self._uniform(q.shape, q.device).neg_().log1p_().neg_()  # (rows, vocab)
        return (clocks / q.double().clamp_(min=_ZERO_TIER)).topk(k, largest=False).indices

    def _distinct(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        """The same law with far fewer random numbers: independent draws, of which repeats are ignored."""
        heights = q.cumsum(-1, dtype=torch.float64).numpy()  # (rows, vocab)
        return [self._one_by_one(q[row], heights[row], count) for row, count in enumerate(counts)]

    def _one_by_one(self, law: torch.Tensor, heights: np.ndarray, count: int) -> list[int]:
        """`count` distinct tokens of one row. What was drawn loses its mass for the next try, as it would come again and again."""
        order: dict[int, None] = {}
        for _ in range(_TRIES):
            order |= dict.fromkeys(self._drawn(heights, 2 * count))
            if len(order) >= count:
                return [*order][:count]
            heights = law.double().index_fill_(0, torch.tensor([*order], dtype=torch.long), 0).cumsum(0).numpy()
        return self._finished(law, [*order], count)

    def _finished(self, law: torch.Tensor, order: list[int], count: int) -> list[int]:
        """`order`, completed to `count` tokens by a race among the others."""
        others = torch.ones(len(law), dtype=torch.bool)
        others[order] = False
        places = others.nonzero()[:, 0]
        return order + places[self._race(law[None, places], count - len(order))[0]].tolist()

    def _drawn(self, heights: np.ndarray, count: int) -> list[int]:
        """Independent draws from the law with these cumulative sums; none where it has no mass."""
        if not heights[-1] > 0:
            return []
        return heights.searchsorted(self._many.random(count) * heights[-1], side="right").tolist()

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        heights = q.cumsum(-1, dtype=torch.float64)  # (rows, vocab)
        if q.device.type == "cpu":
            return [self._drawn(row, count) for row, count in zip(heights.numpy(), counts, strict=True)]
        aim = self._uniform((len(q), max(counts)), q.device) * heights[:, -1:]  # (rows, most)
        return _cut(torch.searchsorted(heights, aim, right=True), counts)

    def _uniform(self, shape: Sequence[int], device: torch.device) -> torch.Tensor:
        """float64 in [0, 1). Coarser noise never draws the rare tokens that verification then counts as drawable."""
        return torch.rand(shape, dtype=torch.float64, device=device, generator=self._device)


class Greedy(Seeded):
    """The limit of both draws as the temperature goes to 0: the k most probable tokens in order, without noise."""

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        return likeliest(q, counts)

    independent = without_replacement


def likeliest(q: torch.Tensor, counts: Sequence[int]) -> Drawn:
    """The most probable tokens of each row of q (rows, vocab), in order."""
    return _cut(q.topk(max(counts)).indices, counts)


def _cut(tokens: torch.Tensor, counts: Sequence[int]) -> Drawn:
    """(rows, most) tokens, each row cut to its count."""
    return [row[:count] for row, count in zip(tokens.tolist(), counts, strict=True)]


def chance_for(temperature: float, seed: int, device: torch.device | str = "cpu") -> Chance:
    """The randomness of one run."""
    return (Greedy if temperature == 0 else Seeded)(seed, device)
