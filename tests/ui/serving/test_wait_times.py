"""Estimates of how long a visitor waits, learned from recent jobs of each kind. Gradio's own
estimate is an average over all jobs, which is wrong if short and long jobs wait together."""

from __future__ import annotations

import random

import pytest

from ui.serving.wait_times import Demand, WaitTimes, duration_words

WARM_UP = 60  # number of the last job whose estimate is not judged; the first is job 0
REPORT = 3.0  # seconds between two estimates


class Job:
    """A random job, and how long it will take. A compared run is followed by a run of plain
    decoding. A profile is a measurement of the machine. Times of equal jobs vary by about a
    fifth."""

    def __init__(self, chance: random.Random) -> None:
        kinds = ["run", "compared run", "step", "race", "profile"]
        kind = chance.choices(kinds, (6, 6, 5, 3, 1))[0]
        tokens = chance.choice([32, 96, 160, 512])
        amount, seconds, limit = {
            "run": (tokens, 0.004 * tokens + 0.2, 60),
            "compared run": (tokens, 0.016 * tokens + 0.3, 63),
            "step": (1, 0.4, 60),
            "race": (4 * tokens, 0.02 * tokens + 1.5, 60),
            "profile": (0, 28.0, 35),
        }[kind]
        self.demand = Demand(kind, amount, limit)
        self.seconds = seconds * chance.lognormvariate(0, 0.2)
        self.estimate: float | None = None  # the latest one made 10 s or more before the job began
        self.truth = 0.0

    def share(self, elapsed: float) -> float:
        """The finished share of the job, as the job reports it; 0 if it reports none."""
        is_silent = self.demand.kind in ("compared run", "step")
        return 0.0 if is_silent else elapsed / self.seconds


def judged(waiting: int, jobs: int) -> list[bool]:
    """Simulates a queue that always has `waiting` jobs, including the one that runs. Returns, for
    each wait of at least 10 seconds after the warm-up, whether its estimate was right: off by at
    most 25% or 5 seconds, whichever is more. The estimate judged is the latest one made at least
    10 seconds before the wait ended."""
    chance = random.Random(waiting)
    times = WaitTimes()
    line = [Job(chance) for _ in range(waiting)]
    right = []
    for number in range(jobs):
        first, *others = line
        if first.estimate is not None and number > WARM_UP:
            right.append(abs(first.estimate - first.truth) <= max(0.25 * first.truth, 5))
        elapsed = 0.0
        while elapsed < first.seconds:
            estimate = times.remaining(first.demand, elapsed, first.share(elapsed))
            truth = first.seconds - elapsed
            for one in others:
                if truth >= 10:
                    one.estimate, one.truth = estimate, truth
                estimate += times.expected(one.demand)
                truth += one.seconds
            elapsed += REPORT
        times.learn(first.demand, first.seconds)
        line = [*others, Job(chance)]
    return right


@pytest.mark.parametrize("waiting", [6, 24, 60])
def test_estimates_hold_for_nine_waits_in_ten(waiting: int) -> None:
    """With fixed seeds, so it cannot fail by chance."""
    right = judged(waiting, 300)
    assert len(right) > 100
    assert sum(right) >= 0.9 * len(right)


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
        (58, "about a minute"),
        (1800, "about 30 minutes"),
    ],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
