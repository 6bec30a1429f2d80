"""The lossless meter above temperature 0: do first tokens of many seeded steps follow the
target's law of that token?

Two right texts differ by chance, so texts cannot be compared. Instead one place of a text is
chosen, the same step is made there again and again with other seeds, and the counts of its first
token are held against the target's law there. The place is the first whose law is uncertain enough
to say anything (`find_position`): where the target is nearly sure of its token, every decoder that
is roughly right agrees with it.

All three verifiers are lossless with the draw that belongs to them, top-k match included (the
target itself draws each token there; what it loses is acceptance), so the meter expects the same of
each. It sees one step's first token: noise that later steps use again, or a wrong token after a
leaf, it cannot see. The law is that of the reference forward, and in half precision the engine's
logits differ from its by a rounding now and then, which moves a share by a few hundredths of
itself: ten times less than a few hundred draws can see, but many thousands would.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import torch

from sequoia.algorithm.distributions import target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import BadModel, BadSamplingParams
from sequoia.exactness.same_tokens import reference_logits
from sequoia.models.pair import Pair
from sequoia.validate_input import whole

ALARM = 1e-6  # a law that is right is called different once in so many looks
POOR = 1e-3  # from here down to ALARM the fit is called poor, and more draws are asked for
# rarer tokens are counted together: chi-square holds for cells that are not nearly empty
MIN_EXPECTED = 5.0
LEAST_BITS = 1.0  # entropy of a law that is worth drawing from: as much as a fair coin's
MOST_PLACES = 64  # places of a text that are looked at; each takes one forward of the target
MAX_DRAWS = 100_000
MAX_LEVELS = 32  # of a step's tree that a TreeChoice makes


@dataclass(frozen=True, eq=False)
class TextPosition:
    """Where first tokens are drawn: after the prompt and the tokens `common`. distribution: the
    target's there, (vocab,) float64.

    looked: places that were looked at before this one was chosen.
    """

    common: tuple[int, ...]
    distribution: torch.Tensor
    looked: int = 1

    @property
    def bits(self) -> float:
        """Entropy of the law."""
        return float(torch.special.entr(self.distribution).sum()) / math.log(2)

    def can_differ(self, draws: int) -> bool:
        """Whether `draws` draws could differ from the law at all: enough of them are expected
        beside the likeliest token."""
        return len(_cells(self.distribution, {}, draws)) > 1


def find_position(
    pair: Pair,
    prompt: str,
    text: Sequence[int],
    params: SamplingParams,
    should_stop: Callable[[], bool] = lambda: False,
) -> TextPosition:
    """The first place of `text`, tokens that follow `prompt`, whose law has LEAST_BITS of
    entropy or more; where none of the first MOST_PLACES has, the one of them with most,
    of equals the first.

    The rule looks at the target's laws alone, so nothing that is counted later can have a say in
    it. Once `should_stop`, no further place is looked at. Raises BadPrompt.
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
class Cell:
    """What chi-square counts as one: a token, or where that is None all rarer ones together;
    `more` where the rarer ones joined this token. share: their part of the law. seen: how
    often they were drawn."""

    token: int | None
    share: float
    seen: int
    more: bool = False


@dataclass(frozen=True, eq=False)
class FirstTokens:
    """Counts of the first tokens drawn, against the target's law of that token.

    distribution: p, (vocab,) float64 that sums to 1. A token that the law rules out counts as such:
    p_value is 0 from then on.

    The p-value is for looking at, not for deciding again and again. A p-value under a right law
    wanders, and by the law of the iterated logarithm it falls below any fixed level sooner or
    later: who stops at the first look below 0.05 calls far more than one right decoder in twenty
    wrong. So "differs" needs p < ALARM: with k looks at most about k * ALARM of right decoders meet
    it, 1 in 10,000 for a hundred looks. (Far out, chi-square is a rough guide for cells of few; the
    order of size holds.)
    """

    distribution: torch.Tensor
    counts: Mapping[int, int] = field(default_factory=dict)

    def add(self, token: int) -> FirstTokens:
        """These counts with one more draw. Raises BadModel for a token outside the law."""
        token = whole(token, "token id", 0, len(self.distribution) - 1, BadModel)
        return replace(self, counts={**self.counts, token: self.counts.get(token, 0) + 1})

    @property
    def draws(self) -> int:
        return sum(self.counts.values())

    @property
    def cells(self) -> tuple[Cell, ...]:
        """What is counted, the most probable first."""
        return _cells(self.distribution, self.counts, self.draws)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the statistic: cells that can differ by themselves."""
        return max(len(self.cells) - 1, 0)

    @property
    def statistic(self) -> float | None:
        """Chi-square of the counts; None where fewer than two cells leave nothing to differ,
        infinite for a token that the law rules out."""
        if any(not self.distribution[token] > 0 for token in self.counts):
            return math.inf
        return (
            sum(
                (cell.seen - cell.share * self.draws) ** 2 / (cell.share * self.draws)
                for cell in self.cells
            )
            if self.freedom
            else None
        )

    @property
    def p_value(self) -> float | None:
        """Chance of counts this far from the law or further under it; None without a statistic."""
        square = self.statistic
        return (
            None if square is None else 0.0 if math.isinf(square) else _tail(square, self.freedom)
        )

    @property
    def detectable_difference(self) -> float | None:
        """How far off the likeliest token's share has to be before as many draws tell it from
        chance, roughly; None without a statistic."""
        if not self.freedom:
            return None
        share = float(self.distribution.max())
        return math.sqrt(_threshold(self.freedom) * share * (1 - share) / self.draws)

    @property
    def verdict(self) -> str:
        """ "fits", "poor", "differs", or "too few" while there is nothing to hold against the
        law."""
        value = self.p_value
        if value is None:
            return "too few"
        return "differs" if value < ALARM else "poor" if value < POOR else "fits"

    @property
    def sentence(self) -> str:
        value = self.p_value
        draws = f"{self.draws} draw{'s' * (self.draws != 1)}"
        if value is None:
            return f"The first tokens of {draws} are too few to be held against the target's law."
        shown = (
            f"χ² = {self.statistic:.1f}, {self.freedom} "
            f"degree{'s' * (self.freedom != 1)} of freedom, p = "
        )
        if self.verdict == "poor":
            return (
                f"The first tokens of {draws} fit the target's law poorly: {shown}{value:.1g}, "
                "measured. Chance does that now and then, so it counts as different only below "
                f"{ALARM:g}: draw again with another seed."
            )
        if self.verdict == "fits":
            found = (
                f"No difference from the target's law in the first tokens of {draws}: "
                f"{shown}{value:.2g}, measured."
            )
            points = round(min(self.detectable_difference or 1, 1) * 100)
            return (
                f"{found} A share off by less than about {points} points would not "
                "count as different."
            )
        return (
            f"The first tokens of {draws} do not follow the target's law: {shown}{value:.1g}, "
            f"measured, below {ALARM:g}."
        )


def _cells(distribution: torch.Tensor, counts: Mapping[int, int], draws: int) -> tuple[Cell, ...]:
    """Cells for `draws` draws, the rare tokens pooled; a pool still rare joins the
    least of the others."""
    common = torch.nonzero(distribution * draws >= MIN_EXPECTED).flatten().tolist()
    cells = sorted(
        (Cell(token, float(distribution[token]), counts.get(token, 0)) for token in common),
        key=lambda cell: -cell.share,
    )
    share = max(1 - sum(cell.share for cell in cells), 0.0) if cells else 1.0
    seen = sum(counts.values()) - sum(cell.seen for cell in cells)
    if not cells or share * draws >= MIN_EXPECTED:
        return *cells, Cell(None, share, seen)
    last = cells[-1]
    return *cells[:-1], Cell(last.token, last.share + share, last.seen + seen, share > 0)


def _tail(square: float, freedom: int) -> float:
    """Chance that chi-square with `freedom` degrees is `square` or more."""
    half = torch.tensor([freedom / 2, square / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))


def _threshold(freedom: int) -> float:
    """The chi-square that is as rare as ALARM, by bisection."""
    low = 0.0
    high = 100.0 + 10 * freedom
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(middle, freedom) > ALARM else (low, middle)
    return high


def first_token_distribution(
    pair: Pair, prompt: str, params: SamplingParams, common: Sequence[int] = ()
) -> torch.Tensor:
    """p of the token after `prompt` and `common` under `params`, (vocab,) float64, from the
    reference forward. Raises BadPrompt."""
    return target_rows(reference_logits(pair, prompt, common), params).cpu()


def first_tokens(
    pair: Pair,
    prompt: str,
    params: SamplingParams,
    tree: Tree | Callable[[], TreeChoice],
    verifier: str = "sequoia",
    draws: int = 400,
    batch: int = 25,
    position: TextPosition | None = None,
) -> Iterator[FirstTokens]:
    """The counts after each `batch` of draws, seeded runs of one step, up to `draws`, at `position`
    (None: right after the prompt). The policy's seed decides the seeds of all draws; runs with two
    such seeds share no draw, be they neighbours.

    May be closed at any moment. How many draws decide is fixed beforehand: the last value's
    verdict counts, see FirstTokens. tree: one for all draws, or what makes each draw's own
    TreeChoice. A step drafts the whole of it, whatever `max_new_tokens` says, where the models'
    context has room for its levels.
    Under top-p, a target in half precision may now and then place a token just inside in one
    forward and outside in another; the meter would call that different. Raises at the first value
    BadSamplingParams for temperature 0, which has no law to fit, and for counts out of range;
    BadPrompt, BadTree and BadSamplingParams as decoding does.
    """
    draws = whole(draws, "draws", 1, MAX_DRAWS, BadSamplingParams)
    batch = whole(batch, "draws of a batch", 1, MAX_DRAWS, BadSamplingParams)
    if params.temperature == 0:
        raise BadSamplingParams(
            "temperature: 0 leaves one possible token and no law to fit; compare its text "
            "with plain decoding's"
        )
    position = position or TextPosition((), first_token_distribution(pair, prompt, params))
    levels = tree.levels if isinstance(tree, Tree) else MAX_LEVELS
    there = _PairWithPrefix.of(pair, position.common)
    counted = FirstTokens(position.distribution)
    seeds = random.Random(f"draws {params.seed}")
    for done in range(1, draws + 1):
        seeded = replace(params, seed=seeds.getrandbits(63), max_new_tokens=levels)
        counted = counted.add(
            _first(
                Decoder(there, prompt, seeded, tree if isinstance(tree, Tree) else tree(), verifier)
            )
        )
        if done % batch == 0 or done == draws:
            yield counted


def _first(decoder: Decoder) -> int:
    decoder.prefill()
    return decoder.step().emitted[0]


@dataclass(frozen=True)
class _PairWithPrefix(Pair):
    """A pair for which every prompt goes on with the tokens `common`."""

    common: tuple[int, ...] = ()

    @classmethod
    def of(cls, pair: Pair, common: tuple[int, ...]) -> _PairWithPrefix:
        return cls(**{one.name: getattr(pair, one.name) for one in fields(Pair)}, common=common)

    def encode(self, prompt: str, chat: bool | None = None) -> tuple[int, ...]:
        return *super().encode(prompt, chat), *self.common
