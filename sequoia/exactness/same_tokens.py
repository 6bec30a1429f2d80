"""The lossless meter at temperature 0: whether emitted text is the target's own, token by
token. Above 0 see same_distribution.py.

Rounding may part a run's tokens from a plain run's at a near tie of the target's logits: a pass
over more rows adds the same products in another order. A near tie can be one of several tokens, so
what counts is how far each of the two lies below the best, and not which places they have.

A target with a router (a mixture of experts) in half precision is another matter: rounding may send
a token to other experts, which moves logits by any amount. There the run is made again in float32.
Where it is not plain decoding's then, that is a bug. Where it is, the decoder is right, and the two
tokens are a tie if both lie as near the best as rounding was seen to move this target's logits.
Whatever cannot be told so is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from sequoia.algorithm.tree import Tree
from sequoia.decoding.tree_choice import Shaper
from sequoia.errors import BadModel, OutOfMemory
from sequoia.exactness.float32_rerun import Stopped, in_float32, movement, tokens_of
from sequoia.library_errors import reason
from sequoia.models.pair import Pair
from sequoia.models.routers import has_router
from sequoia.models.tree_forward import is_half, own_logits
from sequoia.validate_input import whole

# A tie at most. Every sum of a forward is rounded to half an ulp of its number type, and another
# order of its terms rounds otherwise. Over L layers 2 L such roundings walk at random: a share
# of about sqrt(2 L) half-ulps of the logits' spread, which is a quarter of the top logit or
# more; twice that for two logits of two runs. L = 32 makes 2 to 4 ulp, and 16 is four times the
# larger. A wrong row, mask or position moves logits by their spread: 128 ulp of bfloat16,
# millions of float32.
TIE_ULP = 16
# with which a run is made again where nobody says what its tree was
USUAL_TREE = Tree.from_branching([3, 2, 1, 1])
_ENDS = {
    "tie": "a tie, which rounding decides",
    "bug": "a bug",
    "undecided": "undecided",
}


@dataclass(frozen=True)
class TextMatch:
    """A run's tokens against the plain run's: verdict "exact", "tie", "bug" or "undecided".

    compared: tokens both runs have. index: the first that differs, None where none does. margin:
    of the two tokens there, how far the lower one's logit lies below the target's best, in ulp of
    `dtype`; None with index. in_float32: in words, what the same run in float32 showed or why
    there was none, "" where none was needed.
    """

    verdict: str
    compared: int
    index: int | None = None
    margin: float | None = None
    dtype: torch.dtype | None = None
    in_float32: str = ""

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
        if self.margin <= TIE_ULP:
            return f"{start}: a tie (at most {TIE_ULP}), which rounding decides."
        if not self.in_float32:
            return f"{start}: more than the {TIE_ULP} of a tie: a bug."
        return (
            f"{start}. The target has a router, and in {name} rounding may make it choose other "
            f"experts. {self.in_float32}: {_ENDS[self.verdict]}."
        )


def compare(run: Sequence[int], plain: Sequence[int]) -> int | None:
    """Index of the first token that differs; None where the texts are equal as far as both go
    (a run may have been stopped)."""
    return next(
        (i for i, (one, other) in enumerate(zip(run, plain, strict=False)) if one != other), None
    )


def check_text(
    pair: Pair,
    prompt: str,
    run: Sequence[int],
    plain: Sequence[int],
    tree: Tree | Callable[[], Shaper] = USUAL_TREE,
    verifier: str = "sequoia",
    should_stop: Callable[[], bool] = lambda: False,
) -> TextMatch:
    """The tokens `run` emitted at temperature 0 after `prompt`, against those of plain
    decoding; see `judge`.

    Runs the target once where they differ by a tie. Where they differ by more, and rounding may
    flip the target's router, the run is made again in float32 with `tree` (or with what that
    makes) and `verifier`; once `should_stop`, that ends and is undecided. Raises BadPrompt for a
    prompt the pair does not take.
    """
    at = compare(run, plain)
    if at is None:
        return TextMatch("exact", min(len(run), len(plain)))
    found = judge(run, plain, reference_logits(pair, prompt, run[:at]), pair.target.dtype)
    target = pair.target
    if found.verdict == "tie" or not (is_half(target.dtype) and has_router(target)):
        return found
    try:
        wide = in_float32(pair)
        shaper = tree if isinstance(tree, Tree) else tree()
        again = [
            tokens_of(wide, prompt, found.compared, one, verifier, should_stop)
            for one in (shaper, Tree.chain(1))
        ]
    except Stopped:
        words = "The same run in float32 would tell that from a bug; it was not made to its end"
        return replace(found, verdict="undecided", in_float32=words)
    except (OutOfMemory, torch.OutOfMemoryError, MemoryError) as problem:
        words = f"The same run in float32 would tell that from a bug, but {reason(problem)}"
        return replace(found, verdict="undecided", in_float32=words)
    match = check_text(wide, prompt, *again)
    if match.verdict == "bug":
        words = f"The same run in float32 is not plain decoding's either ({match.sentence})"
        return replace(found, in_float32=words)
    return _moved_by_rounding(pair, wide, prompt, found, run, plain)


def _moved_by_rounding(
    pair: Pair,
    wide: Pair,
    prompt: str,
    found: TextMatch,
    run: Sequence[int],
    plain: Sequence[int],
) -> TextMatch:
    """The verdict on texts whose run is right in float32: a tie where rounding explains both
    tokens. If it moves each logit by m at most, a token it makes the best lies at most 2 m below
    the best one of float32."""
    at = found.index
    common = run[:at]
    moved = movement(pair.target, wide.target, [*pair.encode(prompt), *common])
    logits = reference_logits(wide, prompt, common)
    below = float(logits.max() - logits[[run[at], plain[at]]].min())
    near = below <= 2 * moved
    words = (
        "The same run in float32 is plain decoding's, and the lower token lies "
        f"{below:.3g} below the best logit there; {'' if near else 'only '}up to {2 * moved:.3g} "
        "is explained by rounding, which moves logits of this text by up to "
        f"{moved:.3g}, all measured"
    )
    return replace(found, verdict="tie" if near else "undecided", in_float32=words)


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
