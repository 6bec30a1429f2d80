"""The rules for verdicts: each can come out in every way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sequoia.experiments import claims
from sequoia.experiments.claims import DIFFERS, HOLDS, IN_PART, NOT_TESTED
from sequoia.experiments.result import Estimate, Ratio

WON, UNCLEAR, LOST = (1.1, 1.3), (0.9, 1.2), (0.5, 0.7)


def ratios(*intervals: tuple[float, float]) -> list[Ratio]:
    return [
        Ratio(one="a", other="b", at={}, ratio=Estimate((low + high) / 2, low, high, 2))
        for low, high in intervals
    ]


@pytest.mark.parametrize(
    ("intervals", "gain", "verdict"),
    [
        ([], 0, NOT_TESTED),
        ([WON, WON, WON, UNCLEAR], 0, HOLDS),
        ([WON, WON, WON, UNCLEAR], 0.4, HOLDS),  # the largest gain, 20%, is half of the paper's
        ([WON, WON, WON, UNCLEAR], 0.5, IN_PART),
        ([WON, WON, UNCLEAR], 0, IN_PART),  # less than three of four
        ([WON, WON, WON, LOST], 0, IN_PART),
        ([WON, LOST], 0, DIFFERS),
        ([UNCLEAR, UNCLEAR], 0, DIFFERS),
        ([LOST], 0, DIFFERS),
    ],
)
def test_better(intervals: Sequence[tuple[float, float]], gain: float, verdict: str) -> None:
    assert claims.better(ratios(*intervals), gain) == verdict


@pytest.mark.parametrize(
    ("deviations", "verdict"),
    [
        ([], NOT_TESTED),
        ([0.02, -0.09], HOLDS),
        ([0.02, -0.09, 0.15], IN_PART),
        ([0.02, -0.15], DIFFERS),
    ],
)
def test_close(deviations: Sequence[float], verdict: str) -> None:
    assert claims.close(deviations) == verdict


@pytest.mark.parametrize(
    ("fits", "verdict"),
    [([], NOT_TESTED), ([0.99, 0.91], HOLDS), ([0.99, 0.91, 0.5], IN_PART), ([0.5], DIFFERS)],
)
def test_straight(fits: Sequence[float], verdict: str) -> None:
    assert claims.straight(fits) == verdict


@pytest.mark.parametrize(("found", "verdict"), [(3.7, HOLDS), (1.6, IN_PART), (0.9, DIFFERS)])
def test_over_a_tuned_baseline(found: float, verdict: str) -> None:
    assert claims.over_tuned(4.0, found) == verdict


@pytest.mark.parametrize(
    ("correct", "broken", "verdict"),
    [
        ("fits", "differs", HOLDS),
        ("differs", "differs", DIFFERS),
        ("fits", "fits", NOT_TESTED),
        ("open", "differs", NOT_TESTED),
    ],
)
def test_lossless(correct: str, broken: str, verdict: str) -> None:
    assert claims.lossless(correct, broken) == verdict
