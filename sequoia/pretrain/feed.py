"""Which tokens a step trains on. They depend on the seed and the tokens trained on so far
alone, so a run that is taken up again needs no other place-mark.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch

from ..errors import BadTraining

BLOCK = 512  # tokens of text that are read together: one row of them, or several shorter ones
EXTRA_ROWS = 4  # one row in so many comes from the second text of a mixture


class Feed(Protocol):
    """Rows of tokens for each step."""

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        """(rows, context + 1) int64: what follows after `done` tokens."""
        ...


class Blocks:
    """Every block of a text once in a random order, then all again, cut at other places and in
    another order.

    text: (tokens,) uint16, may be a memory map. Rows are whole blocks or equal parts of them, so a
    run may change its context half-way and still see nothing twice.
    """

    def __init__(self, text: np.ndarray, seed: int, block: int = BLOCK) -> None:
        self._text = text
        self._seed = seed
        self._block = block
        self._count = (len(text) - 1) // block - 1  # one less: the cut moves by up to a block
        if self._count < 1:
            raise BadTraining(
                f"a text of {len(text)} tokens is too short for rows of {block}; it takes "
                f"{2 * block + 1}"
            )
        self._pass: tuple[int, np.ndarray] | None = None

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        if self._block % context:
            raise BadTraining(
                f"context {context}: a row has to be {self._block} tokens or an equal part of them"
            )
        starts = np.array([self._start(done + row * context, context) for row in range(rows)])
        places = starts[:, None] + np.arange(context + 1)
        return torch.from_numpy(self._text[places].astype(np.int64))

    def _start(self, place: int, context: int) -> int:
        number, inside = divmod(place, self._block)
        turn, rank = divmod(number, self._count)
        if self._pass is None or self._pass[0] != turn:
            self._pass = turn, self._order(turn)
        return int(self._pass[1][rank]) + inside // context * context

    def _order(self, turn: int) -> np.ndarray:
        """(count,) first tokens of the blocks of one pass over the text."""
        random = np.random.default_rng([self._seed, turn])
        shift = int(random.integers(self._block))
        return random.permutation(self._count) * self._block + shift


class Samples:
    """Texts of one length that a target wrote, in a random order, again and again.

    rows: (texts, width) uint16; a step's rows are their beginnings.
    """

    def __init__(self, rows: np.ndarray, seed: int) -> None:
        self._rows = rows
        self._seed = seed

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        if context >= self._rows.shape[1]:
            raise BadTraining(
                f"context {context}: the samples are texts of {self._rows.shape[1]} tokens"
            )
        turn, first = divmod(done // context, len(self._rows))
        order = np.random.default_rng([self._seed, turn]).permutation(len(self._rows))
        picked = order[np.arange(first, first + rows) % len(order)]
        return torch.from_numpy(self._rows[picked, : context + 1].astype(np.int64))


class Mixture:
    """Rows of `main`, and for one in EXTRA_ROWS of them one of `extra`."""

    def __init__(self, main: Feed, extra: Feed) -> None:
        self._main = main
        self._extra = extra

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        some = rows // EXTRA_ROWS
        share = done // context // EXTRA_ROWS * context  # of the tokens so far that were of `extra`
        return torch.cat(
            [
                self._main.take(done - share, rows - some, context),
                self._extra.take(share, some, context),
            ]
        )
