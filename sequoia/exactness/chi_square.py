"""The chi-square test of counts against a distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

# A p-value below this counts as a difference. That happens in about one in a million tests of a
# correct decoder.
ALARM = 1e-6
# Cells with fewer expected draws than this are counted together. In small counts, large deviations
# are more frequent than the chi-square distribution predicts. For example, with 5 expected draws in
# the rarer of two cells, the p-value falls below ALARM 70 times as often as it should. With 25
# expected draws, it does so 7 times as often.
MIN_EXPECTED = 25.0


def groups(
    shares: np.ndarray, draws: int, least: float = MIN_EXPECTED
) -> tuple[tuple[int, ...], ...]:
    """The groups of cells that are counted together in a test of `draws` draws. Cells are indices
    into `shares` (cells,), their probabilities.

    Cells with at least `least` expected draws come first, the most probable first, each in a group
    of its own. The rarer cells of positive probability share the last group. If that group expects
    fewer than `least` draws, it is merged into the one before, if any.
    """
    common = np.flatnonzero(shares * draws >= least)
    common = common[np.argsort(-shares[common], kind="stable")].tolist()
    rare = np.flatnonzero((shares > 0) & (shares * draws < least)).tolist()
    alone = tuple((cell,) for cell in common)
    if rare and common and math.fsum(shares[rare]) * draws < least:
        return (*alone[:-1], (common[-1], *rare))
    return (*alone, tuple(rare)) if rare else alone


@dataclass(frozen=True)
class Fit:
    """How well counts fit a distribution. statistic: chi-square; infinite if an impossible outcome
    was drawn; otherwise None if there are no draws or fewer than two cells. freedom: its degrees of
    freedom."""

    statistic: float | None
    freedom: int

    @property
    def p_value(self) -> float | None:
        """Probability of counts at least this far from the distribution, if the draws follow it.
        None if there is no statistic."""
        if self.statistic is None:
            return None
        return 0.0 if math.isinf(self.statistic) else p_value(self.statistic, self.freedom)

    @property
    def differs(self) -> bool:
        """Whether the p-value is below ALARM. Valid only at the end of a test: a p-value that is
        computed again after every draw sooner or later falls below any fixed level, even for a
        correct decoder (the law of the iterated logarithm)."""
        return self.p_value is not None and self.p_value < ALARM


def fit(counts: Sequence[int], shares: Sequence[float], impossible: float = 0) -> Fit:
    """The chi-square test of `counts`, one for each cell. shares: the probabilities of the cells,
    all positive. impossible: how many draws gave an outcome of probability 0."""
    freedom = max(len(shares) - 1, 0)
    draws = sum(counts)
    if impossible:
        return Fit(math.inf, freedom)
    if not draws or not freedom:
        return Fit(None, freedom)
    square = sum(
        (seen - share * draws) ** 2 / (share * draws)
        for seen, share in zip(counts, shares, strict=True)
    )
    return Fit(square, freedom)


def p_value(square: float, freedom: int) -> float:
    """The probability that a chi-square variable with `freedom` degrees of freedom is at least
    `square`."""
    half = torch.tensor([freedom / 2, square / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))


def threshold(freedom: int) -> float:
    """The value of the statistic whose p-value is ALARM, found by bisection."""
    low = 0.0
    high = 100.0 + 10 * freedom
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle, freedom) > ALARM else (low, middle)
    return high


def power(shares: Sequence[float], others: Sequence[float], draws: int) -> float:
    """The approximate probability that a test against `shares` gives a p-value below ALARM, if the
    `draws` draws really follow `others`. The approximation is that the statistic has a noncentral
    chi-square distribution. All `shares` are positive."""
    freedom = len(shares) - 1
    if freedom < 1:
        return 0.0
    noncentrality = draws * sum(
        (other - share) ** 2 / share for share, other in zip(shares, others, strict=True)
    )
    return _noncentral_tail(threshold(freedom), freedom, noncentrality)


def _noncentral_tail(square: float, freedom: int, noncentrality: float) -> float:
    """The probability that a noncentral chi-square variable is at least `square`. It is a sum over
    j = 0, 1, ...: the probability of j in a Poisson distribution with mean `noncentrality` / 2,
    times the p-value with `freedom` + 2j degrees of freedom. Terms of negligible weight are left
    out."""
    mean = noncentrality / 2
    spread = 12 * math.sqrt(mean) + 40
    first = max(int(mean - spread), 0)
    terms = torch.arange(first, int(mean + spread) + 1, dtype=torch.float64)
    logs = torch.special.xlogy(terms, torch.full_like(terms, mean)) - mean
    logs -= torch.lgamma(terms + 1)
    tails = torch.special.gammaincc(freedom / 2 + terms, torch.full_like(terms, square / 2))
    return min(float((logs.exp() * tails).sum()), 1.0)
