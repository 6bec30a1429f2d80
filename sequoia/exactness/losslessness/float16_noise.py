"""A deliberate bug: children are drawn as the argmax of log(u) / q, computed in float16."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from sequoia.algorithm.sampling import Drawn, Seeded
from sequoia.exactness.losslessness.bug import DISTINCT, Bug, every_step
from sequoia.exactness.losslessness.enumerator import Enumerator, TooManyOutcomes

VALUES = 2048  # a uniform float16 number is k / 2048, with k from 0 to 2047
_LOGS = (torch.arange(VALUES) / VALUES).half().log().numpy()
TOKENS_AT_ONCE = 4096
NEVER = -200.0  # `first_drawn` ignores scores below it; the best score is hardly ever so low


class Float16Race(Seeded):
    """Draws children by an exponential race (see Seeded.successive) with noise in float16."""

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        noise = torch.randint(0, VALUES, q.shape, generator=self._device)
        negative = -scores(noise, q).float().numpy()
        if max(counts) == 1:  # a faster way; of equal scores, argmin too takes the first
            first = negative.argmin(-1).tolist()
            return [[token][:count] for token, count in zip(first, counts, strict=True)]
        order = negative.argsort(-1, kind="stable").tolist()
        return [row[:count] for row, count in zip(order, counts, strict=True)]


def scores(noise: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """log(u) / q in float16 for u = noise / VALUES; the token with the highest score is drawn."""
    return torch.from_numpy(_LOGS[noise.numpy()]) / q.half()


def first_drawn(q: np.ndarray) -> np.ndarray:
    """The distribution (vocab,) of the first token that the race draws for q (vocab,), exact except
    for draws in which every score is below NEVER. Of equal scores, the token with the lower id is
    first."""
    parts = [_high_scores(q, first) for first in range(0, len(q), TOKENS_AT_ONCE)]
    token, rank, score = map(np.concatenate, zip(*parts, strict=True))
    order = np.lexsort((-token, score))
    weights = _chances_of_the_best(token[order], rank[order], len(q))
    found = np.bincount(token[order], weights, len(q))
    return found / found.sum()


def _high_scores(q: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All possible scores of at least NEVER, for the TOKENS_AT_ONCE tokens from `first` on. Returns
    three arrays with an entry for each score: its token, its rank k (its u is k / VALUES, never 0),
    and the score. All scores of one token are equally probable."""
    some = torch.tensor(q[first : first + TOKENS_AT_ONCE], dtype=torch.float32)[:, None]
    all_scores = scores(torch.arange(VALUES)[None], some).float().numpy()  # increasing in u
    token, rank = np.nonzero(all_scores >= NEVER)
    return token + first, rank, all_scores[token, rank]


def _chances_of_the_best(token: np.ndarray, rank: np.ndarray, tokens: int) -> np.ndarray:
    """For each score, the probability that its token gets this score and wins. The highest score
    wins; of equal scores, that of the token with the lowest id. token, rank: as from
    `_high_scores`, but sorted so that each score loses to all later ones. tokens: the size of the
    vocabulary."""
    # by token: how many scores are below NEVER; at least one, because u = 0 gives minus infinity
    below = VALUES - np.bincount(token, minlength=tokens)
    gain = np.log1p(1 / rank)
    logs = np.log(below).sum() + np.cumsum(gain) - gain
    others = logs - np.log(rank) - (tokens - 1) * np.log(VALUES)
    return np.exp(np.minimum(others, 0)) / VALUES


class Float16Odds:
    """The race of Float16Race, with outcomes that an Enumerator chooses. For nodes with one child
    only."""

    def __init__(self, chance: Enumerator) -> None:
        self._chance = chance
        self.accept = chance.accept
        self.pick = chance.pick
        self.independent = chance.independent

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        if max(counts) > 1:
            raise TooManyOutcomes("the race in float16 is enumerated for single children only")
        drawn = [self._chance.choose(first_drawn(row.numpy()).tolist()) for row in q]
        return [[token][:count] for token, count in zip(drawn, counts, strict=True)]


FLOAT16_NOISE = Bug(
    key="float16",
    verifiers=DISTINCT,
    seeded=lambda seed: every_step(Float16Race(seed)),
    enumerated=lambda chance: every_step(Float16Odds(chance)),
    drawn=first_drawn,
)
