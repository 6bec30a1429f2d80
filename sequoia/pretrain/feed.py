"""Selects the tokens that each step trains on. For a given text, batch and context, these tokens
depend only on the seed and on the number of tokens trained on so far. To resume a run, a feed
therefore needs only that number."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch

from ..errors import BadTraining

BLOCK = 512  # consecutive tokens of the text that become one row, or several shorter rows
EXTRA_ROWS = 4  # in a mixture, one in this many rows comes from the second feed


class Feed(Protocol):
    """Provides the rows of tokens for each step."""

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        """The rows (rows, context + 1), int64, for the step after `done` tokens."""
        ...


class Blocks:
    """The blocks of a text in random order, each once in a pass over the text. For every pass, the
    order and the positions of the cuts are drawn anew. At the ends of the text, fewer than
    2 * block tokens are left out in total.

    text: (tokens,) uint16; it may be a memory map. A block is one row, or is divided into several
    rows of equal length. Each row also has the token that follows it. A run may change its context
    length between two blocks, even in the middle of a pass.
    """

    def __init__(self, text: np.ndarray, seed: int, block: int = BLOCK) -> None:
        self._text = text
        self._seed = seed
        self._block = block
        # one block fewer, because the first one may start almost a block into the text
        self._count = (len(text) - 1) // block - 1
        if self._count < 1:
            raise BadTraining(
                f"the text has {len(text):,} tokens, too few for blocks of {block}; at least "
                f"{2 * block + 1:,} are needed"
            )
        self._pass: tuple[int, np.ndarray] | None = None

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        if self._block % context:
            raise BadTraining(
                f"context {context}: it must divide {self._block}, the number of tokens in a block"
            )
        starts = [self._start(done + row * context, context) for row in range(rows)]
        positions = np.array(starts, np.int64)[:, None] + np.arange(context + 1)
        return torch.from_numpy(self._text[positions].astype(np.int64))

    def _start(self, tokens: int, context: int) -> int:
        """The position in the text of the row that starts after `tokens` tokens of this feed."""
        number, inside = divmod(tokens, self._block)
        turn, rank = divmod(number, self._count)
        if self._pass is None or self._pass[0] != turn:
            self._pass = turn, self._order(turn)
        return int(self._pass[1][rank]) + inside // context * context

    def _order(self, turn: int) -> np.ndarray:
        """The positions (count,) at which the blocks start, in the order of pass number `turn`."""
        random = np.random.default_rng([self._seed, turn])
        shift = int(random.integers(self._block))
        return random.permutation(self._count) * self._block + shift


class Samples:
    """Texts that a target wrote, in random order. As long as the context stays the same, no text is
    repeated before all have been used. Each pass over all texts has a new random order.

    rows: the texts, (texts, width) uint16. Each row of a step is the start of one of them.
    """

    def __init__(self, rows: np.ndarray, seed: int) -> None:
        self._rows = rows
        self._seed = seed
        self._pass: tuple[int, np.ndarray] | None = None

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        if context >= self._rows.shape[1]:
            raise BadTraining(
                f"context {context}: it must be less than {self._rows.shape[1]}, the number of "
                "tokens in each sample"
            )
        picked = [self._picked(done // context + row) for row in range(rows)]
        found = self._rows[np.array(picked, np.int64), : context + 1]
        return torch.from_numpy(found.astype(np.int64))

    def _picked(self, number: int) -> int:
        """The index of the text that is used after `number` others."""
        turn, rank = divmod(number, len(self._rows))
        if self._pass is None or self._pass[0] != turn:
            random = np.random.default_rng([self._seed, turn])
            self._pass = turn, random.permutation(len(self._rows))
        return int(self._pass[1][rank])


class Mixture:
    """Rows of `main` and `extra`: one in EXTRA_ROWS rows comes from `extra`. If the number of rows
    in a step is not a multiple of EXTRA_ROWS, some steps have one row of `extra` more than
    others."""

    def __init__(self, main: Feed, extra: Feed) -> None:
        self._main = main
        self._extra = extra

    def take(self, done: int, rows: int, context: int) -> torch.Tensor:
        # rows of `extra` so far, if all earlier steps had this context
        before = done // context // EXTRA_ROWS
        extra_rows = (done // context + rows) // EXTRA_ROWS - before
        extra_done = before * context
        main = self._main.take(done - extra_done, rows - extra_rows, context)
        return torch.cat([main, self._extra.take(extra_done, extra_rows, context)])
