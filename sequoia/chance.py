"""Where randomness comes from. Decoding asks a Chance; it never draws by itself, so noise cannot be reused by accident.

Tests pass an enumerator that visits every outcome and turns the law of the real `verify` into exact fractions.
"""

from __future__ import annotations

import random
from typing import Any, Protocol

import numpy as np
import torch

_ZERO_TIER = -200.0  # below every log of a positive float32 (-103.3) by more than Gumbel noise can span


class Chance(Protocol):
    """Three questions with random answers. `q` is always the draft's law (rows, vocab), float32 or better."""

    def accept(self, d: Any, r: Any) -> tuple[bool, float | None]:
        """Draw u in [0, 1); answer (u * d < r, u). Strict, so a token with r = 0 is never accepted."""

    def pick(self, weights: Any) -> int:
        """A token with chance proportional to `weights` (vocab,); a token of weight 0 is never picked."""

    def without_replacement(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) distinct tokens in draft order, drawn one after the other from q renormalised over what is left."""

    def independent(self, q: torch.Tensor, k: int) -> torch.Tensor:
        """(rows, k) tokens, each drawn from q by itself; the same token may come twice."""


class Seeded:
    """Production randomness: fresh draws at every call from two generators that belong to one run."""

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self._host = random.Random(seed)
        self._device = torch.Generator(device).manual_seed(seed)

    def accept(self, d: float, r: float) -> tuple[bool, float]:
        u = self._host.random()
        return u * d < r, u

    def pick(self, weights: np.ndarray) -> int:
        heights = np.cumsum(weights)
        token = int(np.searchsorted(heights, self._host.random() * heights[-1], side="right"))
        return token if token < len(weights) else int(np.flatnonzero(weights)[-1])

    def without_replacement(self, q: torch.Tensor, k: int) -> torch.Tensor:
        # Gumbel top-k has the law of successive draws (Plackett-Luce). Tokens with q = 0 come last, in uniform order.
        noise = torch.empty_like(q).exponential_(generator=self._device)
        return (q.log().clamp_(min=_ZERO_TIER) - noise.log_()).topk(k).indices

    def independent(self, q: torch.Tensor, k: int) -> torch.Tensor:
        return torch.multinomial(q, k, replacement=True, generator=self._device)


class Greedy(Seeded):
    """The limit of both draws as the temperature goes to 0: the k most probable tokens in order, without noise."""

    def without_replacement(self, q: torch.Tensor, k: int) -> torch.Tensor:
        return q.topk(k).indices

    independent = without_replacement


def chance_for(temperature: float, seed: int, device: torch.device | str = "cpu") -> Chance:
    """The randomness of one run."""
    return (Greedy if temperature == 0 else Seeded)(seed, device)
