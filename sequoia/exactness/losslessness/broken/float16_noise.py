"""Children drawn as argmax of log(u) / q with everything in float16."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from sequoia.algorithm.sampling import Drawn, Seeded
from sequoia.exactness.losslessness.broken.bug import DISTINCT, Bug, every_step
from sequoia.exactness.losslessness.enumerator import Enumerator, TooManyOutcomes

VALUES = 2048  # of a uniform number in float16: the multiples of 1 / 2048 below 1
_LOGS = (torch.arange(VALUES) / VALUES).half().log().numpy()
NEVER = -200.0  # the best score of all tokens is never as low


class Float16Race(Seeded):
    """Draws children by an exponential race with noise in float16."""

    def without_replacement(self, q: torch.Tensor, counts: Sequence[int]) -> Drawn:
        noise = torch.randint(0, VALUES, q.shape, generator=self._device)
        negative = -scores(noise, q).float().numpy()
        if max(counts) == 1:  # for speed: argmin gives the first of equal ones, as sorting does
            first = negative.argmin(-1).tolist()
            return [[token][:count] for token, count in zip(first, counts, strict=True)]
        order = negative.argsort(-1, kind="stable").tolist()
        return [row[:count] for row, count in zip(order, counts, strict=True)]


def scores(noise: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """log(u) / q in float16 for u = noise / VALUES; the token with the highest score is drawn."""
    return torch.from_numpy(_LOGS[noise.numpy()]) / q.half()


def first_drawn(q: np.ndarray) -> np.ndarray:
    """The exact distribution (vocab,) of the first token that the race draws for q (vocab,). Of
    equal scores, the token with the lower id is first."""
    noise = torch.arange(VALUES)[None]
    all_scores = scores(noise, torch.tensor(q, dtype=torch.float32)[:, None])
    return _distribution_of_best(all_scores.float().numpy())  # increasing, as log(u) is


def _distribution_of_best(all_scores: np.ndarray) -> np.ndarray:
    """The distribution (tokens,) of the token with the best score. all_scores (tokens, values): the
    equally probable scores of each token, increasing."""
    tokens, values = all_scores.shape
    token, rank = np.nonzero(all_scores >= NEVER)
    order = np.lexsort((-token, all_scores[token, rank]))
    token, rank = token[order], rank[order]
    # Scores of a token are passed one by one, from the lowest score to the highest. When one is
    # reached, `rank` scores of its own token and so many of each other token lie below it.
    below = (all_scores < NEVER).sum(1)
    gain = np.log(rank + 1) - np.log(np.maximum(rank, 1))
    logs = np.log(np.maximum(below, 1)).sum() + np.cumsum(gain) - gain
    empty = (below == 0).sum() - np.cumsum(rank == 0)  # other tokens with no score below
    others = logs - np.log(np.maximum(rank, 1)) - (tokens - 1) * np.log(values)
    weights = np.where(empty <= 0, np.exp(np.minimum(others, 0)), 0) / values
    found = np.bincount(token, weights, tokens)
    return found / found.sum()


class Float16Odds:
    """The same race for an Enumerator, for single children."""

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
    label="float16 noise in the draft's draw",
    about=(
        "Children are drawn as the argmax of log(u) / q with u in float16, which has only 2,048 "
        "values below 1. A token with q below about 0.001 is almost never drawn, but verification "
        "assumes that it is drawn with probability q."
    ),
    shows=(
        "At a high temperature many rare tokens together have a large share of q. Of those that the "
        "draft should have proposed, far too few reach the output."
    ),
    hides=(
        "At low temperatures rare tokens have no share worth counting, and a toy with a few words "
        "has no rare ones. Texts look normal: what is missing is rare anyway."
    ),
    verifiers=DISTINCT,
    seeded=lambda seed: every_step(Float16Race(seed)),
    enumerated=lambda chance: every_step(Float16Odds(chance)),
    drawn=first_drawn,
)
