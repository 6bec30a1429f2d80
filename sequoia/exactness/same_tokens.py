"""The lossless meter at temperature 0: whether emitted text is the target's own, token by
token. Above 0 see same_distribution.py.

Rounding may part a run's tokens from a plain run's at a near tie of the target's logits: a pass
over more rows adds the same products in another order. A near tie can be one of several tokens, so
what counts is how far each of the two lies below the best, and not which places they have. After a
tie the two texts go their own ways, and the rest of the run is held against the target alone.

A target with a router (a mixture of experts) in half precision is another matter: rounding may send
a token to other experts, which moves logits by any amount. Where its run differs by more than a
tie, the run is made again in float32. If it is not plain decoding's then either, that is a bug. If
it is, the decoder is right, and the difference is a tie where the run's tokens lie as near the best
as rounding was seen to move the logits of this text. Whatever cannot be told is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import BadModel, OutOfMemory, Stopped
from sequoia.exactness.float32_rerun import go_on, in_float32, tokens_of
from sequoia.library_errors import reason
from sequoia.models.pair import Pair
from sequoia.models.routers import has_router
from sequoia.models.tree_forward import is_half, own_logits, own_logits_from
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
ROWS_AT_ONCE = 64  # rows of logits that are looked at together
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
    `dtype`; None with index. later: index and margin of the run's first token after a tie that is
    further below the best than a tie, None where none is. in_float32: what the same run in float32
    showed, or why there was none; "" where none was needed.
    """

    verdict: str
    compared: int
    index: int | None = None
    margin: float | None = None
    dtype: torch.dtype | None = None
    later: tuple[int, float] | None = None
    in_float32: str = ""

    @property
    def sentence(self) -> str:
        if self.index is None or self.margin is None:
            return f"All {self.compared} tokens are those of plain decoding, measured: exact."
        name = str(self.dtype).removeprefix("torch.")
        start = (
            f"Token {self.index + 1} is the first that plain decoding has otherwise; the lower of "
            f"the two tokens is {self.margin:.3g} ulp of {name} below the target's best logit "
            f"there, measured: {self._size}"
        )
        if not self.in_float32:
            return f"{start}: {_ENDS[self.verdict]}."
        return (
            f"{start}. This target has a router, and rounding to {name} may make it choose other "
            f"experts. {self.in_float32}: {_ENDS[self.verdict]}."
        )

    @property
    def _size(self) -> str:
        """How large the difference is beside a tie, in words."""
        if (self.margin or 0) > TIE_ULP:
            return f"more than the {TIE_ULP} of a tie"
        if self.later is None:
            return f"at most the {TIE_ULP} of a tie"
        index, margin = self.later
        return (
            f"at most the {TIE_ULP} of a tie; but after the run's own text, its token {index + 1} "
            f"is {margin:.3g} ulp below the best"
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
    tree: Tree | Callable[[], TreeChoice] = USUAL_TREE,
    verifier: str = DEFAULT_VERIFIER,
    should_stop: Callable[[], bool] = lambda: False,
) -> TextMatch:
    """The tokens `run` emitted at temperature 0 after `prompt`, against those of plain
    decoding; see `judge`.

    Runs the target a few times over the text where they differ. Where they differ by more than a
    tie, and rounding may flip the target's router, the run is made again in float32 with `tree` (or
    with what that makes) and `verifier`; once `should_stop`, that ends and is undecided. Raises
    BadPrompt for a prompt the pair does not take.
    """
    found = _in_its_own_type(pair, prompt, run, plain)
    target = pair.target
    if found.verdict != "bug" or not (is_half(target.dtype) and has_router(target)):
        return found
    try:
        go_on(should_stop)
        wide = in_float32(pair)
        tree_choice = tree if isinstance(tree, Tree) else tree()
        first, second = (
            tokens_of(wide, prompt, found.compared, one, verifier, should_stop)
            for one in (tree_choice, Tree.chain(1))
        )
    except (Stopped, OutOfMemory, torch.OutOfMemoryError, MemoryError) as problem:
        words = f"Only the same run in float32 could tell that from a bug, and {reason(problem)}"
        return replace(found, verdict="undecided", in_float32=words)
    again = _in_its_own_type(wide, prompt, first, second)
    if again.verdict == "bug":
        words = f"The same run in float32 is not plain decoding's either ({again.sentence[:-1]})"
        return replace(found, in_float32=words)
    return _explained(pair, wide, prompt, found, run, plain)


def _in_its_own_type(
    pair: Pair, prompt: str, run: Sequence[int], plain: Sequence[int]
) -> TextMatch:
    """The verdict by the target's logits as they are: the first difference, and after a tie the
    rest of `run`."""
    at = compare(run, plain)
    if at is None:
        return TextMatch("exact", min(len(run), len(plain)))
    dtype = pair.target.dtype
    found = judge(run, plain, reference_logits(pair, prompt, run[:at]), dtype)
    if found.verdict == "bug":
        return found
    for index, logits in reference_rows(pair, prompt, run, at + 1):
        gap = margin(logits, run[index : index + 1], dtype)
        if gap > TIE_ULP:
            return replace(found, verdict="bug", later=(index, gap))
    return found


def _explained(
    pair: Pair,
    wide: Pair,
    prompt: str,
    found: TextMatch,
    run: Sequence[int],
    plain: Sequence[int],
) -> TextMatch:
    """The verdict on a run that is right in float32: a tie where rounding explains its tokens. If
    it moves each logit by m at most, a token that it makes the best lies at most 2 m below the best
    one of float32."""
    moved = below = 0.0
    at = compare(run, plain)
    rows = zip(reference_rows(pair, prompt, run), reference_rows(wide, prompt, run), strict=True)
    for (index, rounded), (_, exact) in rows:
        tokens = [run[index], plain[index]] if index == at else [run[index]]
        moved = max(moved, float((rounded - exact).abs().max()))
        below = max(below, float(exact.max() - exact[tokens].min()))
    near = below <= 2 * moved
    words = (
        "The same run in float32 is plain decoding's. In float32 the tokens of this text lie at "
        f"most {below:.3g} below the best logit, and rounding moves its logits by at most "
        f"{moved:.3g}, measured: {'at most twice' if near else 'more than twice'} that"
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


def reference_rows(
    pair: Pair, prompt: str, text: Sequence[int], start: int = 0
) -> Iterator[tuple[int, torch.Tensor]]:
    """(index, the same logits (vocab,) for that token) of each token of `text` from `start` on."""
    ids = pair.encode(prompt)
    for first in range(start, len(text), ROWS_AT_ONCE):
        end = min(first + ROWS_AT_ONCE, len(text))
        rows = own_logits_from(pair.target, [*ids, *text[: end - 1]], 0, end - first)
        yield from zip(range(first, end), rows, strict=True)
