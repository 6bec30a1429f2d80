"""The cells in which a losslessness test counts its samples, fixed before any sample is drawn. The
cell of a text depends only on its first tokens. At each position, the most probable tokens are
counted separately, and all other tokens share a cell. Once a text has such a token, the rest of the
text does not affect its cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sequoia.exactness.losslessness.table_step import Model, Text


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
