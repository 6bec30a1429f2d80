"""The lossless meter: whether emitted text is the target's own, token by token at temperature 0, by its law above.

Temperature 0: the run's tokens against a plain run's. Rounding may part them at a near tie of the target's logits: a pass over
more rows adds the same products in another order. Above 0: the first tokens of many seeded runs against the target's law. All
three verifiers are lossless with the draw that belongs to them, top-k match included (the target itself draws each token there;
what it loses is acceptance), so the meter expects the same of each. It sees one step's first token: noise that later steps use
again, or a wrong token after a leaf, it cannot see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from .engine import Decoder
from .errors import BadModel, BadPolicy
from .guarded import whole
from .models import own_logits
from .pair import Pair
from .policy import Policy
from .shaper import Shaper
from .tree import Tree
from .warp import target_rows

# A tie at most. Every sum of a forward is rounded to half an ulp of its number type, and another order of its terms rounds
# otherwise. Over L layers 2 L such roundings walk at random: a share of about sqrt(2 L) half-ulps of the logits' spread, which is
# a quarter of the top logit or more; twice that for two logits of two runs. L = 32 makes 2 to 4 ulp, and 16 is four times
# the larger. A wrong row, mask or position moves logits by their spread: 128 ulp of bfloat16, millions of float32.
TIE_ULP = 16
ALARM = 1e-6  # a law that is right is called different once in so many looks
POOR = 1e-3  # between this and ALARM the sentence asks for more runs
MIN_EXPECTED = 5.0  # rarer tokens are counted together: chi-square holds for cells that are not nearly empty
MAX_RUNS = 100_000
MAX_LEVELS = 32  # of a step's tree that a Shaper makes


# -- temperature 0 ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextMatch:
    """A run's tokens against the plain run's: verdict "exact", "tie" or "bug".

    compared: tokens both runs have. index: the first that differs, None where none does. margin: between the target's two best
    logits there, in ulp of `dtype`; None with index.
    """

    verdict: str
    compared: int
    index: int | None = None
    margin: float | None = None
    dtype: torch.dtype | None = None

    @property
    def sentence(self) -> str:
        if self.index is None:
            return f"All {self.compared} tokens are those of plain decoding, measured: exact."
        name = str(self.dtype).removeprefix("torch.")
        start = (f"Token {self.index + 1} is the first that plain decoding has otherwise; the target's two best logits are "
                 f"{self.margin:.3g} ulp of {name} apart there, measured")
        if self.verdict == "tie":
            return f"{start}: a tie (at most {TIE_ULP}), which rounding decides."
        far = self.margin is not None and self.margin > TIE_ULP
        return f"{start}: {f'more than the {TIE_ULP} of a tie' if far else 'but the two tokens are not those two'}: a bug."


def compare(run: Sequence[int], plain: Sequence[int]) -> int | None:
    """Index of the first token that differs; None where the texts are equal as far as both go (a run may have been stopped)."""
    return next((i for i, (one, other) in enumerate(zip(run, plain, strict=False)) if one != other), None)


def check_text(pair: Pair, prompt: str, run: Sequence[int], plain: Sequence[int]) -> TextMatch:
    """The tokens `run` emitted at temperature 0 after `prompt`, against those of plain decoding; see `judge`.

    Runs the target once where they differ. Raises BadPrompt for a prompt the pair does not take.
    """
    at = compare(run, plain)
    if at is None:
        return TextMatch("exact", min(len(run), len(plain)))
    return judge(run, plain, reference_logits(pair, prompt, run[:at]), pair.target.dtype)


def judge(run: Sequence[int], plain: Sequence[int], logits: torch.Tensor, dtype: torch.dtype) -> TextMatch:
    """The verdict on two texts, given the target's `logits` (vocab,) for the first token that differs.

    A tie: the two tokens have the two best logits, at most TIE_ULP of `dtype`, the model's number type, apart. Raises BadModel
    for logits that are not finite, or fewer than two, or without these tokens.
    """
    at, compared = compare(run, plain), min(len(run), len(plain))
    if at is None:
        return TextMatch("exact", compared)
    gap, second = margin(logits, dtype), logits.double().topk(2).values[1]
    tokens = [whole(token, "token id", 0, len(logits) - 1, BadModel) for token in (run[at], plain[at])]
    best_two = bool((logits.double()[tokens] >= second).all())
    return TextMatch("tie" if best_two and gap <= TIE_ULP else "bug", compared, at, gap, dtype)


def margin(logits: torch.Tensor, dtype: torch.dtype) -> float:
    """Distance of the two best of `logits` (vocab,) in ulp of `dtype`, the spacing of its numbers at the greater of the two."""
    two = logits.double().topk(min(2, logits.numel())).values.tolist()
    if len(two) < 2 or not all(map(math.isfinite, two)):
        raise BadModel(f"a margin needs two finite logits; the best ones here are {two}")
    best, second = two
    return (best - second) / ulp(max(abs(best), abs(second)), dtype)


def ulp(value: float, dtype: torch.dtype) -> float:
    """Spacing of the numbers of `dtype` at a finite `value`; below the least normal number, the spacing there."""
    info = torch.finfo(dtype)
    return info.eps * 2.0 ** math.floor(math.log2(max(abs(value), info.smallest_normal)))


def reference_logits(pair: Pair, prompt: str, common: Sequence[int]) -> torch.Tensor:
    """The target's logits (vocab,), float64, for the token after `prompt` and the tokens `common`, by the forward of
    `transformers` over the whole text: a batch of one, nothing cached. Raises BadPrompt."""
    return own_logits(pair.target, [*pair.encode(prompt), *common])


# -- above 0 ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FirstTokens:
    """Counts of the first tokens of runs, against the target's law of that token.

    law: p, (vocab,) float64 that sums to 1. A token that the law rules out counts as such: p_value is 0 from then on.

    The p-value is for looking at, not for deciding again and again. A p-value under a right law wanders, and by the law of the
    iterated logarithm it falls below any fixed level sooner or later: who stops at the first look below 0.05 calls far more than
    one right decoder in twenty wrong. So "differs" needs p < ALARM: with k looks at most about k * ALARM of right decoders meet
    it, 1 in 10,000 for a hundred looks. (Far out, chi-square is a rough guide for cells of few; the order of size holds.)
    """

    law: torch.Tensor
    counts: Mapping[int, int] = field(default_factory=dict)

    def add(self, token: int) -> FirstTokens:
        """These counts with one more run. Raises BadModel for a token outside the law."""
        token = whole(token, "token id", 0, len(self.law) - 1, BadModel)
        return replace(self, counts={**self.counts, token: self.counts.get(token, 0) + 1})

    @property
    def runs(self) -> int:
        return sum(self.counts.values())

    @property
    def p_value(self) -> float | None:
        """Chance of counts this far from the law or further under it (chi-square; tokens expected less than MIN_EXPECTED times
        are one cell). None while there are fewer than two cells, for then any counts fit."""
        if any(not self.law[token] > 0 for token in self.counts):
            return 0.0
        cells = _cells(self.law, self.counts)
        if len(cells) < 2:
            return None
        square = sum((seen - expected) ** 2 / expected for seen, expected in cells)
        half = torch.tensor([(len(cells) - 1) / 2, square / 2], dtype=torch.float64)
        return float(torch.special.gammaincc(half[0], half[1]))

    @property
    def verdict(self) -> str:
        """"fits", "differs", or "too few" while there is nothing to hold against the law."""
        if self.p_value is None:
            return "too few"
        return "differs" if self.p_value < ALARM else "fits"

    @property
    def sentence(self) -> str:
        value, runs = self.p_value, f"{self.runs} run{'s' * (self.runs != 1)}"
        if value is None:
            return f"The first tokens of {runs} cannot be held against the target's law yet: they fill one cell only."
        if self.verdict == "fits":
            poorly = "" if value >= POOR else f" poorly (it differs below {ALARM:g}; count more runs with other seeds)"
            return f"The first tokens of {runs} fit the target's law{poorly}: p = {value:.2g}, measured."
        return f"The first tokens of {runs} do not follow the target's law: p = {value:.1g}, measured, below {ALARM:g}."


def _cells(law: torch.Tensor, counts: Mapping[int, int]) -> list[tuple[float, float]]:
    """(seen, expected) by token, the rare ones pooled; a pool still rare joins the least of the others."""
    expected, seen = law * sum(counts.values()), torch.zeros_like(law)
    for token, count in counts.items():
        seen[token] = count
    common = expected >= MIN_EXPECTED
    cells = sorted(zip(expected[common].tolist(), seen[common].tolist(), strict=True))
    rest = float(expected[~common].sum()), float(seen[~common].sum())
    if rest[0] >= MIN_EXPECTED or not cells:
        cells.append(rest)
    else:
        cells[0] = cells[0][0] + rest[0], cells[0][1] + rest[1]
    return [(count, wanted) for wanted, count in cells if wanted > 0]


def first_law(pair: Pair, prompt: str, policy: Policy) -> torch.Tensor:
    """p of the first token after `prompt` under `policy`, (vocab,) float64, from the reference forward. Raises BadPrompt."""
    return target_rows(reference_logits(pair, prompt, ()), policy).cpu()


def first_tokens(pair: Pair, prompt: str, policy: Policy, tree: Tree | Callable[[], Shaper], verifier: str = "sequoia",
                 runs: int = 400, batch: int = 25) -> Iterator[FirstTokens]:
    """The counts after each `batch` of seeded one-step runs, up to `runs`; seeds count up from the policy's.

    May be closed at any moment. How many runs decide is fixed beforehand: the last value's verdict counts, see FirstTokens.
    tree: one for all runs, or what makes each run's own Shaper. A step drafts the whole of it, whatever `max_new_tokens` says,
    where the models' context has room for its levels.
    Under top-p, a target in half precision may now and then place a token just inside in one forward and outside in another;
    the meter would call that different. Raises at the first value BadPolicy for temperature 0, which has no law to fit, and
    for counts out of range; BadPrompt, BadTree and BadPolicy as decoding does.
    """
    runs, batch = whole(runs, "runs", 1, MAX_RUNS, BadPolicy), whole(batch, "runs of a batch", 1, MAX_RUNS, BadPolicy)
    if policy.temperature == 0:
        raise BadPolicy("temperature: 0 leaves one possible token and no law to fit; compare its text with plain decoding's")
    levels = tree.levels if isinstance(tree, Tree) else MAX_LEVELS
    counted = FirstTokens(first_law(pair, prompt, policy))
    for done in range(1, runs + 1):
        seeded = replace(policy, seed=(policy.seed + done - 1) % 2**63, max_new_tokens=levels)
        counted = counted.add(_first(Decoder(pair, prompt, seeded, tree if isinstance(tree, Tree) else tree(), verifier)))
        if done % batch == 0 or done == runs:
            yield counted


def _first(decoder: Decoder) -> int:
    decoder.prefill()
    return decoder.step().emitted[0]
