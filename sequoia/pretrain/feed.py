"""The tokens that each step trains on. They depend only on the seed and the number of tokens
trained on so far, so a run can be resumed without any other record of its position."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch

from ..errors import BadTraining

BLOCK = 512  # consecutive tokens of the text that make one row, or several shorter ones
EXTRA_ROWS = 4  # one row in this many comes from the second feed of a mixture


class Feed(Protocol):
    """Rows of tokens for each step."""

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        """(rows, context + 1) int64: the rows of the step after `done` tokens."""
        ...


class Blocks:
    """All blocks of a text in random order, once in each pass over the text. Every pass cuts the
    text into blocks at other positions and has another order.

    text: (tokens,) uint16, may be a memory map. Rows are whole blocks or equal parts of them, so a
    run can change its context in the middle of a pass and still see no token twice.
    """

    def __init__(self, text: np.ndarray, seed: int, block: int = BLOCK) -> None:
        self._text = text
        self._seed = seed
        self._block = block
        self._count = (
            len(text) - 1
        ) // block - 1  # one less, as the first block may start later by up to a block
        if self._count < 1:
            raise BadTraining(
                f"a text of {len(text)} tokens is too short for rows of {block}; at least "
                f"{2 * block + 1} are needed"
            )
        self._pass: tuple[int, np.ndarray] | None = None

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        if self._block % context:
            raise BadTraining(
                f"context {context}: a row must be {self._block} tokens or an equal part of them"
            )
        starts = np.array([self._start(done + row * context, context) for row in range(rows)])
        positions = starts[:, None] + np.arange(context + 1)
        return torch.from_numpy(self._text[positions].astype(np.int64))

    def _start(self, tokens: int, context: int) -> int:
        """First token of the row that comes after `tokens` tokens of rows."""
        number, inside = divmod(tokens, self._block)
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
    """Texts of one length that a target wrote, repeated in random orders.

    rows: (texts, width) uint16; each row of a step is the start of one of them.
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
    """Rows of `main`, with one row in EXTRA_ROWS from `extra`."""

    def __init__(self, main: Feed, extra: Feed) -> None:
        self._main = main
        self._extra = extra

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        some = rows // EXTRA_ROWS
        share = done // context // EXTRA_ROWS * context  # tokens so far that came from `extra`
        main = self._main.take(done - share, rows - some, context)
        return torch.cat([main, self._extra.take(share, some, context)])
