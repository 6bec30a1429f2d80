"""Estimates of how long a visitor waits, learned from recent jobs of each kind."""

from __future__ import annotations

import pytest

from ui.serving.fair_queue import Demand, WaitTimes, duration_words


def test_a_running_job_is_also_estimated_by_its_own_pace() -> None:
    """The estimate for a running job also depends on its own progress."""
    times = WaitTimes(token_seconds=0.1)
    run = Demand("run", 100, 60)
    assert times.remaining(run, 4, 0) == pytest.approx(6)
    # 10 s were expected. At its pace so far, the job takes 20 s. The estimate lies between them:
    # 14 s in all, of which 4 s have passed.
    assert times.remaining(run, 4, 0.2) == pytest.approx(10)
    assert times.remaining(run, 4, 0.8) == pytest.approx(1)
    assert times.remaining(run, 20, 0) == pytest.approx(2)  # overdue
    assert times.remaining(run, 50, 0.1) == pytest.approx(10)  # ends at its limit


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2, "a few seconds"),
        (58, "about 1 minute"),
        (1800, "about 30 minutes"),
    ],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
