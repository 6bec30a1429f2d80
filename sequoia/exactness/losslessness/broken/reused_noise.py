"""Two bugs in which random numbers are drawn once for a whole sample and reused at each step. In
the first bug, these are the random numbers that draft children. In the second, they are the u that
accept or reject children."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from sequoia.algorithm.sampling import Chance, Drawn, Seeded
from sequoia.exactness.losslessness.broken.bug import WALKING, Bug, ChanceOfStep
from sequoia.exactness.losslessness.enumerator import Enumerator


class Mixed:
    """A Chance that drafts with one source of randomness, accepts with another, and picks the last
    token of a step with a third."""

    def __init__(self, drafting: Chance, accepting: Chance, picking: Chance) -> None:
        self.without_replacement = drafting.without_replacement
        self.independent = drafting.independent
        self.accept = accepting.accept
        self.pick = picking.pick


def _same_draft_noise(seed: int) -> ChanceOfStep:
    fresh = Seeded(seed)
    return lambda: Mixed(Seeded(seed + 1), fresh, fresh)


def _same_u(seed: int) -> ChanceOfStep:
    fresh = Seeded(seed)
    return lambda: Mixed(fresh, Seeded(seed + 1), fresh)


def _enumerated_draft_noise(chance: Enumerator) -> ChanceOfStep:
    remembered: list[Drawn] = []
    return lambda: Mixed(RepeatedDrafts(chance, remembered), chance, chance)


def _enumerated_u(chance: Enumerator) -> ChanceOfStep:
    remembered: list[UnknownU] = []
    return lambda: Mixed(chance, RepeatedU(chance, remembered), chance)


class RepeatedDrafts:
    """The Chance of one step. It drafts the same tokens as in the first step. This works only for a
    Toy (toy.py): its q does not depend on the text, so reused random numbers draw the same tokens
    again. remembered: the draws of the first step, shared by all steps of a sample."""

    def __init__(self, chance: Enumerator, remembered: list[Drawn]) -> None:
        self._chance = chance
        self._remembered = remembered
        self._turn = 0
        self.accept = chance.accept
        self.pick = chance.pick

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        return self._repeated(self._chance.without_replacement, q, counts)

    def independent(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        return self._repeated(self._chance.independent, q, counts)

    def _repeated(
        self, draw: Callable[..., Drawn], q: torch.Tensor, counts: Sequence[int]
    ) -> Drawn:
        if self._turn == len(self._remembered):
            self._remembered.append(draw(q, counts))
        self._turn += 1
        return self._remembered[self._turn - 1]


@dataclass
class UnknownU:
    """A random number u of which we only know that it is uniform on [low, high)."""

    low: Any = 0
    high: Any = 1

    def is_below(self, share: Any, chance: Enumerator) -> bool:
        """Whether u < share. `chance` chooses the outcome, and [low, high) is narrowed to the u
        that fit it."""
        middle = min(max(share, self.low), self.high)
        is_below = chance.choose((self.high - middle, middle - self.low)) == 1
        if is_below:
            self.high = middle
        else:
            self.low = middle
        return is_below


class RepeatedU:
    """The Chance of one step. The n-th `accept` of every step uses the same u. remembered: the u
    used so far, shared by all steps of a sample."""

    def __init__(self, chance: Enumerator, remembered: list[UnknownU]) -> None:
        self._chance = chance
        self._remembered = remembered
        self._turn = 0
        self.without_replacement = chance.without_replacement
        self.independent = chance.independent
        self.pick = chance.pick

    def accept(self, d: Any, r: Any) -> tuple[bool, None]:
        if self._turn == len(self._remembered):
            self._remembered.append(UnknownU())
        u = self._remembered[self._turn]
        self._turn += 1
        share = min(r / d, 1) if d > 0 else int(r > 0)
        return u.is_below(share, self._chance), None


_SHOWS = (
    "In the joint distribution of two tokens from different steps. If the tree is a root with one "
    "level of children, often all of them are rejected, and the second token then needs a second "
    "step."
)
_HIDES = (
    "The first token of a text has exactly the right distribution: {} Every test of first tokens "
    "passes."
)

REUSED_DRAFT_NOISE = Bug(
    key="draft-noise",
    label="draft's random numbers reused at each step",
    about=(
        "The random numbers with which children are drafted are drawn once for a whole text and "
        "reused at each step. So a token that was just rejected tends to be drafted again."
    ),
    shows=_SHOWS,
    hides=_HIDES.format("within one step no random number is used twice."),
    verifiers=WALKING,
    seeded=_same_draft_noise,
    enumerated=_enumerated_draft_noise,
    is_joint=True,
)
REUSED_U = Bug(
    key="walk-u",
    label="verifier's random numbers reused at each step",
    about=(
        "The random numbers u that accept or reject tokens are drawn once for a whole text and "
        "reused at each step. After a rejection u is known to be large, so the next step rejects "
        "more often than it should."
    ),
    shows=_SHOWS,
    hides=_HIDES.format("within one step no u is used twice."),
    verifiers=WALKING,
    seeded=_same_u,
    enumerated=_enumerated_u,
    is_joint=True,
)
