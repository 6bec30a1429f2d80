"""The cells in which samples are counted, fixed before any sample is drawn, and the comparison of
the counts with the target's exact distribution, by a chi-square test.

The cell of a text depends only on its first tokens. At each position, the most probable tokens are
counted separately, and all other tokens share a cell. Once a text has such a token, the rest of the
text does not affect its cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sequoia.exactness import chi_square
from sequoia.exactness.chi_square import Fit
from sequoia.exactness.losslessness.tested_models import Model, Text


@dataclass(frozen=True)
class Cell:
    """The texts that begin with `tokens`; if `is_rest`, only those whose next token is not counted
    separately. share: the probability of the cell under the target."""

    tokens: Text
    is_rest: bool
    share: float


class Cells:
    """The cells for the first `places` tokens. p: the target's distributions. top: how many tokens
    are counted separately at each position, namely the most probable ones after the text so far.
    Tokens of probability 0 are never counted separately."""

    def __init__(self, p: Model, places: int, top: int) -> None:
        self.places = places
        self.all: tuple[Cell, ...] = tuple(self._after((), 1.0, p, top))
        self._index = {(cell.tokens, cell.is_rest): i for i, cell in enumerate(self.all)}
        inner = {cell.tokens[:i] for cell in self.all for i in range(len(cell.tokens) + 1)}
        self._inner = {text for text in inner if len(text) < places}

    def _after(self, text: Text, share: float, p: Model, top: int) -> Iterator[Cell]:
        if len(text) == self.places:
            yield Cell(text, False, share)
            return
        row = p(text)
        own = [token for token in np.argsort(-row, kind="stable")[:top].tolist() if row[token] > 0]
        for token in own:
            yield from self._after((*text, token), share * float(row[token]), p, top)
        others = np.ones(len(row), dtype=bool)
        others[own] = False
        if others.any():
            yield Cell(text, True, share * float(row[others].sum()))

    def find(self, text: Sequence[int]) -> int | None:
        """The index in `all` of the cell that contains `text`. None if the text is too short."""
        for length in range(1, len(text) + 1):
            start = tuple(text[:length])
            if start not in self._inner:
                found = self._index.get((start, False))
                return self._index[start[:-1], True] if found is None else found
        return None

    def shares(self, distribution: Mapping[Any, Any]) -> list[float]:
        """The probability of each cell under `distribution` (text -> probability). Each text
        must be long enough for `find`."""
        total = [0.0] * len(self.all)
        for text, weight in distribution.items():
            index = self.find(text)
            assert index is not None, "a text is too short for the cells"
            total[index] += float(weight)
        return total


@dataclass(frozen=True)
class Grouping:
    """The cells (see `Cells`) of a test of `draws` samples. Rare cells are counted together, as
    `chi_square.groups` says. shares: the probability of each cell under the target."""

    shares: tuple[float, ...]
    draws: int

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the cells in each group; cells of probability 0 are in no group."""
        return chi_square.groups(np.array(self.shares), self.draws)

    def grouped(self, values: Sequence[float]) -> list[float]:
        """The sum of `values` (one for each cell) in each group."""
        return [math.fsum(values[i] for i in group) for group in self.groups]

    def impossible(self, values: Sequence[float]) -> float:
        """The sum of `values` in the cells of probability 0."""
        return sum(value for value, share in zip(values, self.shares, strict=True) if share == 0)

    def power(self, others: Sequence[float]) -> float:
        """Roughly the probability that the test rejects a decoder whose cells have the
        probabilities `others`."""
        shares = self.grouped(self.shares)
        found = chi_square.power(shares, self.grouped(others), self.draws)
        impossible = self.impossible(others)
        return found if impossible == 0 else 1 - (1 - impossible) ** self.draws * (1 - found)

    def distance(self, others: Sequence[float]) -> float:
        """The total variation between `shares` and `others`, over all cells."""
        return sum(abs(one - other) for one, other in zip(self.shares, others, strict=True)) / 2


@dataclass(frozen=True)
class Comparison:
    """Samples compared with the target's distribution. counts: samples in each cell so far."""

    grouping: Grouping
    counts: tuple[int, ...]

    @cached_property
    def draws(self) -> int:
        return sum(self.counts)

    @property
    def ended(self) -> Comparison:
        """The comparison to use once sampling has ended. If sampling ended early, more cells may be
        too rare to be counted alone, so the cells are grouped again."""
        if self.is_complete:
            return self
        return replace(self, grouping=replace(self.grouping, draws=self.draws))

    @property
    def is_complete(self) -> bool:
        return self.draws >= self.grouping.draws

    @cached_property
    def fit(self) -> Fit:
        """The chi-square test, valid only at the end of a test, see `ended`."""
        grouping = self.grouping
        seen = [int(value) for value in grouping.grouped(self.counts)]
        shares = grouping.grouped(grouping.shares)
        return chi_square.fit(seen, shares, grouping.impossible(self.counts))

    @property
    def total_variation(self) -> float:
        """The total variation between the counts and the target's distribution, over the groups of
        the test and the cells of probability 0."""
        if not self.draws:
            return 0.0
        seen = self.grouping.grouped(self.counts)
        shares = self.grouping.grouped(self.grouping.shares)
        apart = sum(abs(one / self.draws - share) for one, share in zip(seen, shares, strict=True))
        return (apart + self.grouping.impossible(self.counts) / self.draws) / 2

    @property
    def noise_floor(self) -> float:
        """The mean total variation for a correct decoder, with this number of samples."""
        shares = self.grouping.grouped(self.grouping.shares)
        return sum(mean_deviation(self.draws, share) for share in shares) / 2


def mean_deviation(draws: int, share: float) -> float:
    """The mean of |count / draws - share|, where count is the number of samples, out of `draws`, in
    a cell of probability `share` (de Moivre's formula)."""
    if not draws or not 0 < share < 1:
        return 0.0
    above = math.floor(draws * share) + 1
    logs = (
        math.lgamma(draws + 1)
        - math.lgamma(above + 1)
        - math.lgamma(draws - above + 1)
        + above * math.log(share)
        + (draws - above + 1) * math.log1p(-share)
    )
    return 2 * above * math.exp(logs) / draws
