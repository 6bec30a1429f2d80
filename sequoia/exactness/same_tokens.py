"""Losslessness at temperature 0: checks token by token that the emitted text is the target's own.
For higher temperatures see same_distribution.py.

A pass over more tokens rounds differently, so a run's tokens may differ from plain decoding's at a
near tie. Where they first differ, the target's logits x in float32 decide (for a target in float32,
in float64). Say a pass rounds every logit by at most e. If it prefers a token to the best of x,
then that token's x is at most 2 e below the best. So the two tokens are a tie if neither is further
below the best than that, and a bug otherwise. After a tie the two texts diverge, and each further
token of the run is compared with the best of x, after the run's own text, in the same way.

How e is measured matters:

- It is not taken from the run's own pass. A pass is always within its own error of x, so even a
  pass with a wrong mask would be called a tie. It is taken from the bare `transformers` model in
  the target's dtype, which uses neither our masks nor our cache. (A faster forward is used only if
  its errors are hardly larger; see choose_forward.py.)
- It is the largest difference over the likelier half of the vocabulary, not only over the two
  tokens. Another pass rounds these two differently, and often by much more: two differences say
  little about a third. Over thousands of tokens the largest one is stable. In SmolLM2-135M it
  differed between passes of several kinds by a factor of at most 2.5, and was some five times the
  typical difference. Very unlikely tokens are left out, because some models mask them.

A target with a router (mixture of experts) in half precision is different: rounding can change the
chosen experts, which changes logits by any amount. So what is no tie is undecided, not a bug.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import torch

from sequoia.algorithm.step_trace import common_tokens
from sequoia.errors import BadModel, OutOfMemory, reason
from sequoia.models.compare_logits import is_half, last_own_logits, own_logits, wider
from sequoia.models.pair import Pair
from sequoia.models.self_test import has_router
from sequoia.saved_files.race_results import Place, TextMatch
from sequoia.validate_input import whole

ROWS_AT_ONCE = 64  # rows of logits computed together
_EXPERTS = "rounding can change the experts that this target chooses"


def compare(run: Sequence[int], plain: Sequence[int]) -> int | None:
    """Index of the first token that differs. None if the shorter text is the beginning of the
    longer one: a run may have been stopped."""
    shared = common_tokens(run, plain)
    return shared if shared < min(len(run), len(plain)) else None


def check_text(pair: Pair, prompt: str, run: Sequence[int], plain: Sequence[int]) -> TextMatch:
    """Compares `run`, the tokens emitted at temperature 0 after `prompt`, with `plain`, the tokens
    of plain decoding, as described at the top of this file.

    If the check does not fit in memory, the verdict is undecided. Raises BadPrompt if the texts
    differ and the pair does not accept the prompt, and BadModel if a logit is not finite or a token
    is out of bounds.
    """
    at = compare(run, plain)
    match = TextMatch("exact", min(len(run), len(plain)), _dtype(pair), at)
    if at is None:
        return match
    try:
        match = _judged(match, places(pair, prompt, run, plain, at))
    except (OutOfMemory, RuntimeError, MemoryError) as problem:
        return replace(match, verdict="undecided", problem=reason(problem))
    if match.verdict == "bug" and is_half(pair.target.dtype) and has_router(pair.target):
        return replace(match, verdict="undecided", problem=_EXPERTS)
    return match


def _dtype(pair: Pair) -> str:
    return str(pair.target.dtype).removeprefix("torch.")


def _judged(match: TextMatch, found: Iterable[Place]) -> TextMatch:
    """The verdict on two texts that differ. found: the places from the first difference on."""
    found = iter(found)
    first = next(found)
    later = next((one for one in found if not one.is_tie), None) if first.is_tie else None
    verdict = "tie" if first.is_tie and not later else "bug"
    return replace(match, verdict=verdict, first=first, later=later)


def places(
    pair: Pair,
    prompt: str,
    run: Sequence[int],
    plain: Sequence[int],
    start: int,
) -> Iterator[Place]:
    """The place of each token of `run` from `start` on. Where `run` first differs from `plain`,
    both tokens count. Raises BadModel as `place` does."""
    at = compare(run, plain)
    both = (
        reference_rows(replace(pair, target=one), prompt, run, start)
        for one in (pair.target, wider(pair.target))
    )
    for (index, rounded), (_, exact) in zip(*both, strict=True):
        tokens = [run[index], plain[index]] if index == at else [run[index]]
        yield place(index, tokens, rounded, exact)


def place(index: int, tokens: Sequence[int], rounded: torch.Tensor, exact: torch.Tensor) -> Place:
    """The place at `index` of a text, for the one of `tokens` furthest below the best.

    rounded, exact: the logits there, (vocab,) float64, computed in the target's dtype and with more
    precision. Raises BadModel if one that counts is not finite or a token is out of bounds.
    """
    ids = [whole(token, "token id", 0, len(exact) - 1, BadModel) for token in tokens]
    margin = float(exact.max() - exact[ids].min())
    is_likely = exact >= exact.median()
    error = float(torch.where(is_likely, (rounded - exact).abs(), 0.0).max())
    if not math.isfinite(margin + error):
        raise BadModel(
            f"a comparison needs finite logits; the best logit is {float(exact.max())}, the lowest "
            f"of the compared tokens {float(exact[ids].min())}, and rounding changes logits by "
            f"{error}"
        )
    return Place(index, margin, error)


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
) -> Iterator[tuple[int, torch.Tensor]]:
    """(index, reference logits (vocab,) for the token at that index) for each token of `text` from
    `start` on."""
    ids = pair.encode(prompt)
    for first in range(start, len(text), ROWS_AT_ONCE):
        end = min(first + ROWS_AT_ONCE, len(text))
        rows = last_own_logits(pair.target, [*ids, *text[: end - 1]], end - first)
        yield from zip(range(first, end), rows, strict=True)
