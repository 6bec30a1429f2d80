"""Losslessness at temperature 0: checks token by token that the emitted text is the target's own.
For higher temperatures see same_distribution.py.

Rounding can make a run's tokens differ from plain decoding's at a near tie of the target's logits,
because a pass over more tokens adds the same products in another order. At the first difference,
the verdict depends on how far the logits of the two tokens are below the best logit. Their ranks do
not matter, because more than two tokens can be nearly tied. After a tie the two texts diverge, and
the rest of the run is compared with the target's logits only.

A target with a router (mixture of experts) in half precision is different: rounding can change the
chosen experts, which changes logits by any amount. If a run of such a target differs by more than a
tie, the prompt is decoded twice in float32, with the tree and without. If these two texts differ by
more than a tie, that is a bug. Otherwise, the logits of the original run's text are computed in
both dtypes, to measure the effect of rounding. If this effect can explain how far the tokens are
below the best logit, the verdict is a tie. If not, or if the check in float32 was not finished, the
verdict is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from sequoia.algorithm.progress import ShouldStop
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.decoding.tree_choice import TreeSource
from sequoia.errors import BadModel, OutOfMemory, Stopped
from sequoia.exactness.float32_rerun import in_float32, raise_if_stopped, tokens_of
from sequoia.library_errors import reason
from sequoia.models.compare_logits import is_half, own_logits, own_logits_from
from sequoia.models.pair import Pair
from sequoia.models.routers import has_router
from sequoia.validate_input import whole

# The largest margin that counts as a tie, in ulp (see `margin`). Why 16: a forward pass rounds each
# sum by up to half an ulp, and differently if the terms are added in another order. L layers have
# 2 L such sums (attention and MLP). Their errors add up like a random walk, to about sqrt(2 L)
# half-ulps of a number as large as the logits' spread. For L = 32 that is 8 half-ulps, or 4 ulp.
# The top logit is up to four times the spread, so its ulp is up to four times as large. In ulp of
# the top logit, the error is 1 to 4. The run and the reference both have such an error, which makes
# 2 to 8. A limit of 16 leaves room. A wrong row, mask or position changes logits by much more,
# their whole spread: at least 32 ulp in bfloat16, millions in float32.
TIE_ULP = 16
# the tree with which a run is repeated if the run's own tree is not given
USUAL_TREE = Tree.from_branching([3, 2, 1, 1])
ROWS_AT_ONCE = 64  # rows of logits computed together
_ENDS = {
    "tie": "a tie, decided by rounding",
    "bug": "a bug",
    "undecided": "undecided",
}


@dataclass(frozen=True)
class TextMatch:
    """A run's tokens compared with plain decoding's: verdict "exact", "tie", "bug" or "undecided".

    compared: the number of tokens of the shorter text. index: the index of the first token that
    differs, or None. margin: how far the lower of the two tokens' logits at that index is below the
    target's best logit, in ulp of `dtype`. later: (index, margin) of the first later token of the
    run that is further below the best logit than a tie allows, or None. in_float32: the result of
    the check in float32, or why there is none. It is "" if that check was not needed.
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
            return f"All {self.compared} tokens equal plain decoding's (measured): exact."
        name = str(self.dtype).removeprefix("torch.")
        start = (
            f"Token {self.index + 1} is the first that differs from plain decoding. The lower "
            f"logit of the two tokens is {self.margin:.3g} ulp of {name} below the target's best "
            f"(measured), {self._size}"
        )
        if not self.in_float32:
            return f"{start}: {_ENDS[self.verdict]}."
        return (
            f"{start}. This target has a router, and rounding to {name} can change the experts it "
            f"chooses. {self.in_float32}: {_ENDS[self.verdict]}."
        )

    @property
    def _size(self) -> str:
        """How the difference compares with a tie, in words."""
        if (self.margin or 0) > TIE_ULP:
            return f"more than the {TIE_ULP} ulp of a tie"
        if self.later is None:
            return f"at most the {TIE_ULP} ulp of a tie"
        index, margin = self.later
        return (
            f"at most the {TIE_ULP} ulp of a tie, but given the run's own text, its token "
            f"{index + 1} is {margin:.3g} ulp below the best"
        )


def compare(run: Sequence[int], plain: Sequence[int]) -> int | None:
    """Index of the first token that differs. None if the shorter text is the beginning of the
    longer one: a run may have been stopped."""
    return next(
        (i for i, (one, other) in enumerate(zip(run, plain, strict=False)) if one != other), None
    )


def check_text(
    pair: Pair,
    prompt: str,
    run: Sequence[int],
    plain: Sequence[int],
    tree: TreeSource = USUAL_TREE,
    verifier: str = DEFAULT_VERIFIER,
    should_stop: ShouldStop = lambda: False,
) -> TextMatch:
    """Compares `run`, the tokens emitted at temperature 0 after `prompt`, with `plain`, the tokens
    of plain decoding; see `judge`.

    If they differ by more than a tie and rounding can change the choices of the target's router,
    repeats the run in float32 with `tree` and `verifier`. If this check does not fit in memory, or
    ends because `should_stop()` is true, the verdict is undecided. Raises BadPrompt if the texts
    differ and the pair does not accept the prompt, and BadModel as `judge` does.
    """
    match = _match(pair, prompt, run, plain)
    target = pair.target
    if match.verdict != "bug" or not (is_half(target.dtype) and has_router(target)):
        return match
    try:
        raise_if_stopped(should_stop)
        wide = in_float32(pair)
        tree_choice = tree if isinstance(tree, Tree) else tree()
        wide_run, wide_plain = (
            tokens_of(wide, prompt, match.compared, one, verifier, should_stop)
            for one in (tree_choice, Tree.chain(1))
        )
        wide_match = _match(wide, prompt, wide_run, wide_plain, should_stop)
        if wide_match.verdict == "bug":
            words = f"The same run in float32 differs too ({wide_match.sentence[:-1]})"
            return replace(match, in_float32=words)
        explained = _explained(pair, wide, prompt, match, run, plain, should_stop)
    except (Stopped, OutOfMemory, torch.OutOfMemoryError, MemoryError) as problem:
        words = f"Whether this is a bug could not be checked in float32, because {reason(problem)}"
        return replace(match, verdict="undecided", in_float32=words)
    is_same = wide_match.verdict == "exact"
    same = "equals plain decoding's" if is_same else "differs from plain decoding's only by a tie"
    return replace(explained, in_float32=f"The same run in float32 {same}. {explained.in_float32}")


def _match(
    pair: Pair,
    prompt: str,
    run: Sequence[int],
    plain: Sequence[int],
    should_stop: ShouldStop = lambda: False,
) -> TextMatch:
    """The verdict from the target's logits in its own dtype: on the first difference and, if that
    is a tie, on the rest of `run`. Raises Stopped as `reference_rows` does."""
    at = compare(run, plain)
    if at is None:
        return TextMatch("exact", min(len(run), len(plain)))
    dtype = pair.target.dtype
    match = judge(run, plain, reference_logits(pair, prompt, run[:at]), dtype)
    if match.verdict == "bug":
        return match
    for index, logits in reference_rows(pair, prompt, run, at + 1, should_stop):
        gap = margin(logits, run[index : index + 1], dtype)
        if gap > TIE_ULP:
            return replace(match, verdict="bug", later=(index, gap))
    return match


def _explained(
    pair: Pair,
    wide: Pair,
    prompt: str,
    match: TextMatch,
    run: Sequence[int],
    plain: Sequence[int],
    should_stop: ShouldStop,
) -> TextMatch:
    """The verdict on a run in which float32 shows no bug: a tie if rounding explains the run's
    tokens, else undecided. If rounding changes each logit by at most m, a token that becomes the
    best by rounding is at most 2 m below the best one in float32. Raises Stopped as
    `reference_rows` does."""
    moved = below = 0.0
    at = compare(run, plain)
    both = (reference_rows(one, prompt, run, 0, should_stop) for one in (pair, wide))
    rows = zip(*both, strict=True)
    for (index, rounded), (_, exact) in rows:
        tokens = [run[index], plain[index]] if index == at else [run[index]]
        moved = max(moved, float((rounded - exact).abs().max()))
        below = max(below, float(exact.max() - exact[tokens].min()))
    near = below <= 2 * moved
    words = (
        "In the float32 logits, every token of the original run, and plain decoding's token at the "
        f"first difference, is at most {below:.3g} below the best. "
        f"Rounding changes the logits by at most {moved:.3g}. The first number is "
        f"{'at most' if near else 'more than'} twice the second (both measured)"
    )
    return replace(match, verdict="tie" if near else "undecided", in_float32=words)


def judge(
    run: Sequence[int], plain: Sequence[int], logits: torch.Tensor, dtype: torch.dtype
) -> TextMatch:
    """The verdict on two texts: "exact", "tie" or "bug". logits (vocab,): the target's for the
    first token that differs.

    It is a tie if the logits of both tokens are at most TIE_ULP ulp of the model's `dtype` below
    the best logit, else a bug. Raises BadModel if one of these logits is not finite or a token is
    out of bounds.
    """
    at = compare(run, plain)
    compared = min(len(run), len(plain))
    if at is None:
        return TextMatch("exact", compared)
    gap = margin(logits, (run[at], plain[at]), dtype)
    return TextMatch("tie" if gap <= TIE_ULP else "bug", compared, at, gap, dtype)


def margin(logits: torch.Tensor, tokens: Sequence[int], dtype: torch.dtype) -> float:
    """How far the lowest logit of `tokens` is below the best of `logits` (vocab,), in ulp of
    `dtype`. Of these two logits, the one with the larger absolute value determines the ulp. Raises
    BadModel as `judge` does."""
    ids = [whole(token, "token id", 0, len(logits) - 1, BadModel) for token in tokens]
    best = float(logits.double().max())
    lowest = float(logits.double()[ids].min())
    if not math.isfinite(best) or not math.isfinite(lowest):
        raise BadModel(
            f"a margin needs finite logits; the best logit is {best}, and the lowest of the "
            f"compared tokens is {lowest}"
        )
    return (best - lowest) / ulp(max(abs(best), abs(lowest)), dtype)


def ulp(value: float, dtype: torch.dtype) -> float:
    """Spacing of the numbers of `dtype` at a finite `value`, or at the smallest normal number if
    the absolute value is smaller."""
    info = torch.finfo(dtype)
    return info.eps * 2.0 ** math.floor(math.log2(max(abs(value), info.smallest_normal)))


def reference_logits(pair: Pair, prompt: str, common: Sequence[int]) -> torch.Tensor:
    """The target's logits (vocab,), float64, for the token after `prompt` and the tokens `common`,
    from the `transformers` forward pass over the whole text: a batch of one, no cache. Raises
    BadPrompt."""
    return own_logits(pair.target, [*pair.encode(prompt), *common])


def reference_rows(
    pair: Pair,
    prompt: str,
    text: Sequence[int],
    start: int = 0,
    should_stop: ShouldStop = lambda: False,
) -> Iterator[tuple[int, torch.Tensor]]:
    """(index, reference logits (vocab,) for the token at that index) for each token of `text` from
    `start` on. Raises Stopped if `should_stop()` is true before a pass."""
    ids = pair.encode(prompt)
    for first in range(start, len(text), ROWS_AT_ONCE):
        raise_if_stopped(should_stop)
        end = min(first + ROWS_AT_ONCE, len(text))
        rows = own_logits_from(pair.target, [*ids, *text[: end - 1]], 0, end - first)
        yield from zip(range(first, end), rows, strict=True)
