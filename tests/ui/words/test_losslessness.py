"""Sentences about losslessness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sequoia.saved_files.race_results import Kind, Lossless, Place, SampleCount, TextMatch, Why
from ui.words.losslessness import lossless_words, match_words

HALF = "bfloat16"
TIE, BUG = Place(4, 0.01, 0.02), Place(4, 0.5, 0.02)
MATCH = TextMatch("bug", 48, HALF, index=4, first=BUG)


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
            replace(MATCH, first=TIE, later=BUG, dtype="float32"),
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
    ],
)
def test_a_difference_is_explained(match: TextMatch, parts: tuple[str, ...]) -> None:
    for part in parts:
        assert part in match_words(match)


COUNT = SampleCount(400, 400, False, 20.0, 0, 3, 4, 1.5, "a", 1, (), 1.0, 0.12)


def counted(kind: Kind, p_value: float | None, why: Why = "", **changes: Any) -> str:
    count = replace(COUNT, **changes)
    return lossless_words(Lossless(kind, "measured", None, p_value, count, why), {})


def test_first_tokens_fit_or_not() -> None:
    fits = counted("fits", 0.317)
    assert fits.startswith(
        "The first tokens of 400 samples are consistent with the large model's distribution: "
        "χ² = 1.0, 1 degree of freedom, p-value 0.32."
    )
    assert fits.endswith("too often or too rarely by about 12 percentage points.")
    assert "fit the large model's distribution poorly" in counted("poor", 1e-4)
    assert "do not follow the large model's distribution" in counted("bug", 1e-9)
    assert "are too few to compare" in counted("none", None, draws=5, statistic=None)
