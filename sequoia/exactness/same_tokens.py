"""The lossless meter at temperature 0: whether emitted text is the target's own, token by
token. Above 0 see same_distribution.py.

Rounding may part a run's tokens from a plain run's at a near tie of the target's logits: a pass
over more rows adds the same products in another order. A near tie can be one of several tokens, so
what counts is how far each of the two lies below the best, and not which places they have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from sequoia.errors import BadModel
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import own_logits
from sequoia.validate_input import whole

# A tie at most. Every sum of a forward is rounded to half an ulp of its number type, and another
# order of its terms rounds otherwise. Over L layers 2 L such roundings walk at random: a share
# of about sqrt(2 L) half-ulps of the logits' spread, which is a quarter of the top logit or
# more; twice that for two logits of two runs. L = 32 makes 2 to 4 ulp, and 16 is four times the
# larger. A wrong row, mask or position moves logits by their spread: 128 ulp of bfloat16,
# millions of float32.
TIE_ULP = 16


@dataclass(frozen=True)
class TextMatch:
    """A run's tokens against the plain run's: verdict "exact", "tie" or "bug".

    compared: tokens both runs have. index: the first that differs, None where none does. margin:
    of the two tokens there, how far the lower one's logit lies below the target's best, in ulp of
    `dtype`; None with index.
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
        start = (
            f"Token {self.index + 1} is the first that plain decoding has otherwise; the lower of "
            f"the two tokens is {self.margin:.3g} ulp of {name} below the target's best logit "
            "there, measured"
        )
        if self.verdict == "tie":
            return f"{start}: a tie (at most {TIE_ULP}), which rounding decides."
        return f"{start}: more than the {TIE_ULP} of a tie: a bug."


def compare(run: Sequence[int], plain: Sequence[int]) -> int | None:
    """Index of the first token that differs; None where the texts are equal as far as both go
    (a run may have been stopped)."""
    return next(
        (i for i, (one, other) in enumerate(zip(run, plain, strict=False)) if one != other), None
    )


def check_text(pair: Pair, prompt: str, run: Sequence[int], plain: Sequence[int]) -> TextMatch:
    """The tokens `run` emitted at temperature 0 after `prompt`, against those of plain
    decoding; see `judge`.

    Runs the target once where they differ. Raises BadPrompt for a prompt the pair does not take.
    """
    at = compare(run, plain)
    if at is None:
        return TextMatch("exact", min(len(run), len(plain)))
    return judge(run, plain, reference_logits(pair, prompt, run[:at]), pair.target.dtype)


def judge(
    run: Sequence[int], plain: Sequence[int], logits: torch.Tensor, dtype: torch.dtype
) -> TextMatch:
    """The verdict on two texts, given the target's `logits` (vocab,) for the first token that
    differs.

    A tie: both tokens have logits at most TIE_ULP of `dtype`, the model's number type, below the
    best one. Raises BadModel for logits that are not finite, or without these tokens.
    """
    at = compare(run, plain)
    compared = min(len(run), len(plain))
    if at is None:
        return TextMatch("exact", compared)
    gap = margin(logits, (run[at], plain[at]), dtype)
    return TextMatch("tie" if gap <= TIE_ULP else "bug", compared, at, gap, dtype)


def margin(logits: torch.Tensor, tokens: Sequence[int], dtype: torch.dtype) -> float:
    """How far the lowest of `tokens` lies below the best of `logits` (vocab,), in ulp of `dtype`:
    the spacing of its numbers at the greater of the two. Raises BadModel as `judge` does."""
    ids = [whole(token, "token id", 0, len(logits) - 1, BadModel) for token in tokens]
    best = float(logits.double().max())
    lowest = float(logits.double()[ids].min())
    if not math.isfinite(best) or not math.isfinite(lowest):
        raise BadModel(
            f"a margin needs finite logits; the best here is {best}, and the lower token's {lowest}"
        )
    return (best - lowest) / ulp(max(abs(best), abs(lowest)), dtype)


def ulp(value: float, dtype: torch.dtype) -> float:
    """Spacing of the numbers of `dtype` at a finite `value`; below the least normal number,
    the spacing there."""
    info = torch.finfo(dtype)
    return info.eps * 2.0 ** math.floor(math.log2(max(abs(value), info.smallest_normal)))


def reference_logits(pair: Pair, prompt: str, common: Sequence[int]) -> torch.Tensor:
    """The target's logits (vocab,), float64, for the token after `prompt` and the tokens
    `common`, by the forward of `transformers` over the whole text: a batch of one, nothing
    cached. Raises BadPrompt."""
    return own_logits(pair.target, [*pair.encode(prompt), *common])
