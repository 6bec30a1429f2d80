"""Losslessness above temperature 0: a chi-square test of whether the first tokens of many seeded
steps follow the target distribution.

The texts of two correct decoders differ by chance, so texts cannot be compared. Instead, one step
is repeated at one position of a text, with different seeds. The counts of its first token are
compared with the target distribution at that position. `find_position` chooses a position at which
the target is uncertain: where it is almost sure of its token, even wrong decoders emit that token.

All verifiers should pass. Only the first token of a step is tested. So the test cannot detect that
later steps wrongly reuse random numbers, or that the bonus token after an accepted leaf is wrong.
The target distribution comes from the reference forward pass. In half precision the engine's logits
differ from those of this pass by rounding, which changes a probability by a few per cent of its
value. A few hundred draws cannot detect that, but many thousands can.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import torch

from sequoia.algorithm.distributions import target_rows
from sequoia.algorithm.progress import ShouldStop
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder
from sequoia.decoding.tree_choice import TreeSource
from sequoia.exactness import chi_square
from sequoia.exactness.chi_square import Fit
from sequoia.exactness.same_tokens import reference_logits
from sequoia.models.pair import Pair

# Less than `chi_square.MIN_EXPECTED`, which is 25. With a few hundred draws from a vocabulary, only
# two or three cells would have 25 expected draws, and most wrong verifiers would pass. FirstTokens
# describes the drawback of the smaller minimum.
MIN_EXPECTED = 5.0
POOR = 1e-3  # a p-value between ALARM and this is a poor fit: draw again
LEAST_BITS = 1.0  # least entropy of a distribution worth testing: that of a fair coin
MOST_PLACES = 64  # maximum positions examined; each takes one target forward pass
MAX_LEVELS = 32  # a tree made by a TreeChoice is cut to this many levels


@dataclass(frozen=True, eq=False)
class TextPosition:
    """Where first tokens are drawn: after the prompt and the tokens `common`. distribution: the
    target distribution there, (vocab,) float64. looked: how many positions were examined to choose
    this one.
    """

    common: tuple[int, ...]
    distribution: torch.Tensor
    looked: int = 1

    @property
    def bits(self) -> float:
        """Entropy of the distribution in bits."""
        return float(torch.special.entr(self.distribution).sum()) / math.log(2)

    def can_differ(self, draws: int) -> bool:
        """Whether the counts of `draws` draws could show a difference: the test must have at least
        two cells. It has only one if the target is almost sure of its token, or if no token is
        probable enough for a cell of its own. (Not considered here: drawing a token of probability
        0 shows a difference even with one cell.)"""
        return len(_cells(self.distribution, {}, draws)) > 1


def find_position(
    pair: Pair,
    prompt: str,
    text: Sequence[int],
    params: SamplingParams,
    should_stop: ShouldStop = lambda: False,
) -> TextPosition:
    """The first position with at least LEAST_BITS of entropy in `text`, the tokens after `prompt`.
    If no examined position has that much, the one with the most.

    At most MOST_PLACES positions are examined, and no more once `should_stop()` is true. The tokens
    that the test counts do not influence the choice, so it does not bias the test. Raises
    BadPrompt, and BadModel if the target's logits are NaN or infinite.
    """
    looked: list[TextPosition] = []
    for at in range(min(max(len(text), 1), MOST_PLACES)):
        looked.append(
            TextPosition(
                tuple(text[:at]), first_token_distribution(pair, prompt, params, text[:at])
            )
        )
        if looked[-1].bits >= LEAST_BITS or should_stop():
            break
    return replace(max(looked, key=lambda position: position.bits), looked=len(looked))


@dataclass(frozen=True)
class Bin:
    """One bin of the chi-square test: one token, or all tokens too rare for a bin of their own if
    `token` is None. more: whether the bin of a token also includes those rare tokens. share: the
    bin's probability under the target distribution. seen: how often its tokens were drawn."""

    token: int | None
    share: float
    seen: int
    more: bool = False


@dataclass(frozen=True, eq=False)
class FirstTokens:
    """Counts of the first tokens drawn, compared with the target distribution.

    distribution: p, (vocab,) float64, sums to 1. counts: draws by token id.

    "differs" requires p < ALARM, which should happen to a correct decoder once in a million tests.
    It happens more often if few draws are expected in a cell: with 5 expected draws in one of two
    cells, 70 times in a million.
    """

    distribution: torch.Tensor
    counts: Mapping[int, int] = field(default_factory=dict)

    def add(self, token: int) -> FirstTokens:
        """These counts with one more draw."""
        return replace(self, counts={**self.counts, token: self.counts.get(token, 0) + 1})

    @property
    def draws(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def cells(self) -> tuple[Bin, ...]:
        """The cells of the test, the most probable token first. The last cell includes all tokens
        without a cell of their own."""
        return _cells(self.distribution, self.counts, self.draws)

    @cached_property
    def fit(self) -> Fit:
        """The chi-square test of the cells."""
        cells = self.cells
        impossible = sum(not self.distribution[token] > 0 for token in self.counts)
        return chi_square.fit(
            [cell.seen for cell in cells], [cell.share for cell in cells], impossible
        )

    @property
    def detectable_difference(self) -> float | None:
        """Roughly how far the most probable token's share has to be off for these draws to give
        "differs". None if there are fewer than two cells."""
        freedom = self.fit.freedom
        if not freedom:
            return None
        share = float(self.distribution.max())
        return math.sqrt(chi_square.threshold(freedom) * share * (1 - share) / self.draws)

    @property
    def verdict(self) -> str:
        """ "fits", "poor" or "differs", or "too few" if there is no statistic."""
        if self.fit.p_value is None:
            return "too few"
        return "differs" if self.fit.differs else "poor" if self.fit.p_value < POOR else "fits"


def _cells(distribution: torch.Tensor, counts: Mapping[int, int], draws: int) -> tuple[Bin, ...]:
    """The groups of `chi_square.groups` for a test of `draws` draws, as cells. The last cell
    includes all tokens that no other cell has."""
    *alone, last = chi_square.groups(distribution.cpu().numpy(), draws, MIN_EXPECTED)
    cells = [Bin(token, float(distribution[token]), counts.get(token, 0)) for (token,) in alone]
    share = max(1 - sum(cell.share for cell in cells), 0.0)
    seen = sum(counts.values()) - sum(cell.seen for cell in cells)
    token = last[0] if float(distribution[last[0]]) * draws >= MIN_EXPECTED else None
    return *cells, Bin(token, share, seen, token is not None and len(last) > 1)


def first_token_distribution(
    pair: Pair, prompt: str, params: SamplingParams, common: Sequence[int] = ()
) -> torch.Tensor:
    """p of the token after `prompt` and `common` under `params`, (vocab,) float64, from the
    reference forward pass. Raises BadPrompt, and BadModel if the target's logits are NaN or
    infinite."""
    return target_rows(reference_logits(pair, prompt, common), params).cpu()


def first_tokens(
    pair: Pair,
    prompt: str,
    params: SamplingParams,
    tree: TreeSource,
    verifier: str,
    position: TextPosition,
) -> Iterator[FirstTokens]:
    """Yields the counts after each draw, without end. A draw is a seeded run of one step at
    `position`. The seed in `params`, whose temperature is above 0, determines the seeds of all
    draws; `params.max_new_tokens` is ignored.

    tree: one tree for all draws, or a function that makes a TreeChoice for each draw. Only the
    verdict after the last draw counts, see FirstTokens. With top-p in half precision, rounding can
    put a token just inside the nucleus in one forward pass and just outside it in another. Then
    even a correct decoder can get the verdict "differs". Raises whatever decoding raises.
    """
    levels = tree.levels if isinstance(tree, Tree) else MAX_LEVELS
    with_prefix = _PairWithPrefix.of(pair, position.common)
    counted = FirstTokens(position.distribution)
    seeds = random.Random(f"draws {params.seed}")
    while True:
        seeded = replace(params, seed=seeds.getrandbits(63), max_new_tokens=levels)
        choice = tree if isinstance(tree, Tree) else tree()
        decoder = Decoder(with_prefix, prompt, seeded, choice, verifier)
        decoder.prefill()
        counted = counted.add(decoder.step().emitted[0])
        yield counted


@dataclass(frozen=True)
class _PairWithPrefix(Pair):
    """A pair that appends the tokens `common` to every prompt."""

    common: tuple[int, ...] = ()

    @classmethod
    def of(cls, pair: Pair, common: tuple[int, ...]) -> _PairWithPrefix:
        same = {field.name: getattr(pair, field.name) for field in fields(Pair)}
        return cls(**same, common=common)

    def encode(self, prompt: str, chat: bool | None = None) -> tuple[int, ...]:
        return *super().encode(prompt, chat), *self.common
