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
_ZERO_TIER = 1e-300  # so far below the least positive float32 (1e-45) that such tokens lose every race against it


class Chance(Protocol):
    """Four questions with random answers. `q` is always the draft's law (rows, vocab), float32 or better; k <= vocab."""

    def accept(self, d: Any, r: Any) -> tuple[bool, float | None]:
        """Draw u in [0, 1); answer (u * d < r, u). Strict, so a token with r = 0 is never accepted."""
        ...

    def pick(self, weights: Any) -> int:
        """A token with chance proportional to `weights` (vocab,); a token of weight 0 is never picked."""
        ...

    def without_replacement(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) distinct tokens in draft order, drawn one after the other from q renormalised over what is left."""
        ...

    def independent(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) tokens, each drawn from q by itself; the same token may come twice."""
        ...


class Seeded:
    """Production randomness: fresh draws at every call from two generators that belong to one run."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self._host = random.Random(seed)
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

    def without_replacement(self, q: torch.Tensor, k: int) -> torch.Tensor:
        return self._distinct(q, k) if q.device.type == "cpu" and k <= _FEW else self._race(q, k)

    def _race(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """A race of exponential clocks with rates q ends in the order of successive draws (Plackett-Luce). Tokens with q = 0
        come last, in uniform order."""
        clocks = self._uniform(q.shape, q.device).neg_().log1p_().neg_()  # (rows, vocab)
        return (clocks / q.double().clamp_(min=_ZERO_TIER)).topk(k, largest=False).indices

    def _distinct(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """The same law with far fewer random numbers: independent draws, of which repeats are ignored. What was drawn before
        loses its mass for the next try, as the few likely tokens would come again and again."""
        left, order = q.double(), [list[int]() for _ in q]
        short = list(range(len(q)))
        for _ in range(_TRIES):
            heights = left.cumsum(-1)  # (rows, vocab)
            alive = (heights[:, -1] > 0).tolist()
            drawn = torch.searchsorted(heights, self._uniform((len(short), 2 * k), q.device) * heights[:, -1:], right=True)
            for row, tokens, any_left in zip(short, drawn.tolist(), alive, strict=True):
                if any_left:
                    order[row] = [*dict.fromkeys((*order[row], *tokens))][:k]
            short = [row for row in short if len(order[row]) < k]
            if not short:
                return torch.tensor(order)
            left = q[short].double()
            for row, masses in zip(short, left, strict=True):
                masses[order[row]] = 0
        return self._finished(q, order, k)

    def _finished(self, q: torch.Tensor, order: list[list[int]], k: int) -> torch.Tensor:
        """Rows of `order` that are short of k tokens, completed by a race among the others."""
        for row, tokens in enumerate(order):
            if len(tokens) < k:
                others = torch.ones(q.shape[1], dtype=torch.bool)
                others[tokens] = False
                places = others.nonzero()[:, 0]
                tokens += places[self._race(q[row:row + 1, places], k - len(tokens))[0]].tolist()
        return torch.tensor(order)

    def independent(self, q: torch.Tensor, k: int) -> torch.Tensor:
        heights = q.double().cumsum(-1)  # (rows, vocab)
        aim = self._uniform((len(q), k), q.device) * heights[:, -1:]  # (rows, k)
        return torch.searchsorted(heights, aim, right=True)

    def _uniform(self, shape: Sequence[int], device: torch.device) -> torch.Tensor:
        """float64 in [0, 1). Coarser noise never draws the rare tokens that verification then counts as drawable."""
        return torch.rand(shape, dtype=torch.float64, device=device, generator=self._device)


class Greedy(Seeded):
    """The limit of both draws as the temperature goes to 0: the k most probable tokens in order, without noise."""

    def without_replacement(self, q: torch.Tensor, k: int) -> torch.Tensor:
        return q.topk(k).indices

    independent = without_replacement


def chance_for(temperature: float, seed: int, device: torch.device | str = "cpu") -> Chance:
    """The randomness of one run."""
    return (Greedy if temperature == 0 else Seeded)(seed, device)
