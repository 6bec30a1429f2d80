"""The lossless meter at temperature 0: whether emitted text is the target's own, token by
token. Above 0 see law.py.

Rounding may part a run's tokens from a plain run's at a near tie of the target's logits: a pass
over more rows adds the same products in another order.
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
    between the target's two best logits there, in ulp of `dtype`; None with index.
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
            f"Token {self.index + 1} is the first that plain decoding has otherwise; the target's "
            f"two best logits are {self.margin:.3g} ulp of {name} apart there, measured"
        )
        if self.verdict == "tie":
            return f"{start}: a tie (at most {TIE_ULP}), which rounding decides."
        far = self.margin is not None and self.margin > TIE_ULP
        reason = (
            f"more than the {TIE_ULP} of a tie" if far else "but the two tokens are not those two"
        )
        return f"{start}: {reason}: a bug."


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

    A tie: the two tokens have the two best logits, at most TIE_ULP of `dtype`, the model's
    number type, apart. Raises BadModel for logits that are not finite, or fewer than two, or
    without these tokens.
    """
    at = compare(run, plain)
    compared = min(len(run), len(plain))
    if at is None:
        return TextMatch("exact", compared)
    gap = margin(logits, dtype)
    second = logits.double().topk(2).values[1]
    tokens = [
        whole(token, "token id", 0, len(logits) - 1, BadModel) for token in (run[at], plain[at])
    ]
    best_two = bool((logits.double()[tokens] >= second).all())
    return TextMatch("tie" if best_two and gap <= TIE_ULP else "bug", compared, at, gap, dtype)


def margin(logits: torch.Tensor, dtype: torch.dtype) -> float:
    """Distance of the two best of `logits` (vocab,) in ulp of `dtype`, the spacing of its numbers
    at the greater of the two."""
    two = logits.double().topk(min(2, logits.numel())).values.tolist()
    if len(two) < 2 or not all(map(math.isfinite, two)):
        raise BadModel(f"a margin needs two finite logits; the best ones here are {two}")
    best, second = two
    return (best - second) / ulp(max(abs(best), abs(second)), dtype)


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
