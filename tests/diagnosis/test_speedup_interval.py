"""The confidence interval of a speed-up: whether it equals that of a jackknife computed directly,
and how often it contains the true value.

The coverage test has a fixed seed, so it always gives the same result.
"""

from __future__ import annotations

import math
import random
import statistics

import pytest

from sequoia.diagnosis.speedup_interval import SEGMENTS, SpeedupInterval, speedup_interval

STEADY = [(1, 0.01)] * 96


def written_out(steps: list[tuple[int, float]]) -> tuple[float, float]:
    """The logarithm of the seconds per token, and the standard error of this logarithm by a
    jackknife over eight segments of equally many steps."""
    size = len(steps) // SEGMENTS
    left_out = [
        math.log(sum(t for _, t in rest) / sum(n for n, _ in rest))
        for k in range(SEGMENTS)
        if (rest := [*steps[: k * size], *steps[(k + 1) * size :]])
    ]
    mean = statistics.fmean(left_out)
    return (
        math.log(sum(t for _, t in steps) / sum(n for n, _ in steps)),
        math.sqrt((SEGMENTS - 1) / SEGMENTS * sum((one - mean) ** 2 for one in left_out)),
    )


def test_it_is_the_jackknife_over_eight_segments() -> None:
    rng = random.Random(1)
    run, plain = ([(1, rng.uniform(0.5, 2)) for _ in range(64)] for _ in range(2))
    (pace, error) = written_out(run)
    (base, other) = written_out(plain)
    found = speedup_interval(run, plain)
    assert found.speedup == pytest.approx(math.exp(base - pace))
    assert math.log(found.most / found.least) / 2 == pytest.approx(2.365 * math.hypot(error, other))
    assert math.sqrt(found.least * found.most) == pytest.approx(found.speedup)


def test_runs_of_constant_pace_have_an_interval_of_no_width() -> None:
    found = speedup_interval([(3, 0.02)] * 32, STEADY)
    assert (found.speedup, found.least, found.most) == pytest.approx((1.5, 1.5, 1.5))
    assert speedup_interval(STEADY, STEADY).verdict == "even"


def test_about_nineteen_in_twenty_intervals_contain_the_true_value() -> None:
    """500 pairs of runs from the same distribution, so the true speed-up is 1. The test would fail
    for intervals half as wide, or 1.5 times as wide."""
    rng = random.Random(2)

    def steps() -> list[tuple[int, float]]:
        return [(rng.randint(1, 4), rng.lognormvariate(-4, 0.5)) for _ in range(60)]

    held = sum(speedup_interval(steps(), steps()).verdict == "even" for _ in range(500))
    assert 450 <= held <= 495


@pytest.mark.parametrize(
    ("least", "most", "verdict"),
    [
        (1.01, 2.0, "faster"),
        (0.5, 0.99, "slower"),
        (0.5, 2.0, "even"),
        (1.0, 2.0, "even"),
        (0.5, 1.0, "even"),
    ],
)
def test_an_interval_that_includes_one_is_even(least: float, most: float, verdict: str) -> None:
    assert SpeedupInterval(1.0, least, most).verdict == verdict


def test_a_run_that_is_too_short_or_takes_no_time_has_no_interval() -> None:
    for short in ([], [(1, 0.1)], [(1, 0.1)] * 2, [(1, 0.0)] * 40, [(40, 0.1), (1, 0.1)]):
        assert speedup_interval(short, STEADY) is None
        assert speedup_interval(STEADY, short) is None
    assert speedup_interval([(1, 0.1)] * 3, STEADY).verdict == "slower"


def test_every_token_and_second_is_in_one_segment() -> None:
    """A step that emits several eighths of the tokens ends one segment, not several."""
    rng = random.Random(3)
    for _ in range(200):
        steps = [
            (rng.choice((1, 1, 2, 5, 30)), rng.random() + 0.1) for _ in range(rng.randint(3, 80))
        ]
        found = speedup_interval(steps, STEADY)
        if found:
            pace = sum(t for _, t in steps) / sum(n for n, _ in steps)
            assert found.speedup == pytest.approx(0.01 / pace)
