"""Sentences about losslessness: token by token, and by the distribution of first tokens."""

from __future__ import annotations

import torch

from sequoia.exactness.chi_square import ALARM
from sequoia.exactness.same_distribution import FirstTokens
from sequoia.exactness.same_tokens import Place, TextMatch

_ENDS = {
    "tie": "a tie, decided by rounding",
    "bug": "a bug",
    "undecided": "undecided",
}


# -- token by token --------------------------------------------------------------------------------


def match_words(match: TextMatch) -> str:
    """Whether a text is that of plain decoding; if not, where it differs and what that means."""
    if match.index is None:
        return f"All {match.compared} tokens equal plain decoding's: exact."
    words = [f"Token {match.index + 1} is the first that differs from plain decoding"]
    if match.first:
        words.append(
            f"In {_wide(match.dtype)}, the lower logit of the two tokens is "
            f"{_place_words(match.first)}"
        )
    if match.later:
        words[-1] += (
            f", but given the run's own text, its token {match.later.index + 1} is "
            f"{_place_words(match.later)}"
        )
    if match.problem:
        words.append(
            f"Whether this is a bug could not be checked in {_wide(match.dtype)}, because "
            f"{match.problem}"
        )
    if match.in_float32:
        words += _float32_words(match, match.in_float32)
    return f"{'. '.join(words)}: {_ENDS[match.verdict]}."


def _float32_words(match: TextMatch, again: TextMatch) -> list[str]:
    """What the same run in float32, `again`, shows."""
    name = str(match.dtype).removeprefix("torch.")
    start = f"This target has a router, and rounding to {name} can change the experts it chooses"
    run = "The same run in float32"
    if again.verdict == "bug":
        return [start, f"{run} differs too ({match_words(again)[:-1]})"]
    same = "equals" if again.index is None else "differs only by a tie from"
    words = [start, f"{run} {same} plain decoding's"]
    if match.worst:
        words.append(
            "Every token of the original run, and plain decoding's at the first difference, is at "
            f"most {_place_words(match.worst)} anywhere in the text"
        )
    return words


def _place_words(place: Place) -> str:
    size = "at most" if place.is_tie else "more than"
    return (
        f"{place.margin:.3g} below the best, {size} twice the rounding error of {place.error:.3g}"
    )


def _wide(dtype: torch.dtype) -> str:
    return "float64" if dtype == torch.float32 else "float32"


# -- by distribution -------------------------------------------------------------------------------


def first_tokens_words(found: FirstTokens) -> str:
    """Whether first tokens follow the target's distribution, and what the test would find."""
    tokens = f"first tokens of {found.draws} sample{'s' * (found.draws != 1)}"
    if found.verdict == "too few":
        return f"The {tokens} are too few to compare with the target's distribution."
    freedom = found.fit.freedom
    result = (
        f"χ² = {found.fit.statistic:.1f}, {freedom} degree{'s' * (freedom != 1)} of freedom, "
        f"p-value {found.fit.p_value:.2g}"
    )
    if found.verdict == "fits":
        points = round(min(found.detectable_difference or 1, 1) * 100)
        return (
            f"The {tokens} are consistent with the target's distribution: {result}. A p-value "
            "below one in a million counts as an error. With this many samples, that happens "
            "if, for example, the most probable token comes too often or too rarely by about "
            f"{points} percentage points."
        )
    if found.verdict == "poor":
        return (
            f"The {tokens} fit the target's distribution poorly: {result}. This happens by "
            f"chance now and then, so only p below {ALARM:g} counts as different: sample "
            "again with another seed."
        )
    return f"The {tokens} do not follow the target's distribution: {result}, below {ALARM:g}."
