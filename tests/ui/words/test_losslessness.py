"""Sentences about losslessness."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from sequoia.exactness.losslessness.bugs import BUGS
from sequoia.exactness.same_distribution import FirstTokens
from sequoia.exactness.same_tokens import Place, TextMatch
from ui.words.losslessness import BUG_WORDS, first_tokens_words, match_words

HALF = torch.bfloat16
TIE, BUG = Place(4, 0.01, 0.02), Place(4, 0.5, 0.02)
SAME = TextMatch("exact", 48, torch.float32)
MATCH = TextMatch("bug", 48, HALF, index=4, first=BUG)


def test_equal_texts_are_exact() -> None:
    assert match_words(SAME) == "All 48 tokens equal plain decoding's: exact."


@pytest.mark.parametrize(
    ("match", "parts"),
    [
        (
            MATCH,
            (
                "Token 5 is the first that differs from plain decoding. In float32, the lower ",
                "0.5 below the best, more than twice the rounding error of 0.02: a bug.",
            ),
        ),
        (
            replace(MATCH, first=TIE, later=BUG, dtype=torch.float32),
            ("In float64, the lower", "given the run's own text, its token 5 is 0.5 below"),
        ),
        (
            replace(MATCH, verdict="tie", first=TIE),
            (
                "at most twice",
                ": a tie, decided by",
            ),
        ),
        (
            replace(MATCH, verdict="undecided", problem="it was stopped"),
            ("could not be checked in float32, because it was stopped: undecided.",),
        ),
        (
            replace(MATCH, in_float32=replace(MATCH, dtype=torch.float32)),
            ("rounding to bfloat16 can", "run in float32 differs too (Token 5 is", "bug): a bug."),
        ),
        (
            replace(MATCH, verdict="tie", in_float32=SAME, worst=TIE),
            ("in float32 equals plain decoding's. Every token", "anywhere in the text: a tie"),
        ),
    ],
)
def test_a_difference_is_explained(match: TextMatch, parts: tuple[str, ...]) -> None:
    for part in parts:
        assert part in match_words(match)


def counted(shares: tuple[float, ...], counts: tuple[int, ...]) -> str:
    shared = torch.tensor(shares, dtype=torch.float64)
    return first_tokens_words(FirstTokens(shared, dict(enumerate(counts))))


def test_first_tokens_fit_or_not() -> None:
    fits = counted((0.5, 0.5), (190, 210))
    assert fits.startswith(
        "The first tokens of 400 samples are consistent with the target's distribution: χ² = 1.0, "
        "1 degree of freedom, p-value 0.32."
    )
    assert fits.endswith("too often or too rarely by about 12 percentage points.")
    assert "fit the target's distribution poorly" in counted((0.5, 0.5), (160, 240))
    assert "do not follow the target's distribution" in counted((0.5, 0.5), (100, 300))
    assert "are too few to compare" in counted((1.0,), (5,))


def test_each_bug_has_words() -> None:
    assert BUG_WORDS.keys() == BUGS.keys()
