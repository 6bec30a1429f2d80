"""Where the time went: bars that add up, each loss in the phase that caused it, and runs that are
refused."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.step_trace import PHASES, DecodeStats
from sequoia.algorithm.tree import Tree
from sequoia.diagnosis.where_time_went import check_prediction, time_breakdown
from sequoia.errors import BadTrace
from sequoia.planning.plan_for_machine import predict
from sequoia.saved_files.race_results import PARTS
from tests.planned import PROFILE

PLAIN = DecodeStats(steps=100, tokens=100, seconds={"draft": 0.0, "verify": 0.8, "overhead": 0.2})
RUN = DecodeStats(steps=50, tokens=150, seconds={"draft": 0.3, "verify": 0.6, "overhead": 0.15})


def stats(rng: random.Random, least_tokens: int) -> DecodeStats:
    steps = rng.randint(1, 500)
    seconds = {
        phase: steps
        * 10 ** rng.uniform(-7, 2)
        * rng.choice((0, 1, 1, 1) if phase != "verify" else (1,))
        for phase in PHASES
    }
    return DecodeStats(
        steps=steps, tokens=steps * least_tokens + rng.randint(0, 9 * steps), seconds=seconds
    )


def test_the_bars_add_up_to_the_measured_speedup() -> None:
    """Random pairs of runs. Their measured speed-up is computed here in exact fractions."""
    rng = random.Random(1)
    for _ in range(500):
        run = stats(rng, 1)
        plain = replace(stats(rng, 1), tokens=rng.randint(1, 900))
        found = time_breakdown(run, plain).bars
        step = sum(map(Fraction, run.seconds.values())) / run.steps
        token = sum(map(Fraction, plain.seconds.values())) / plain.tokens
        speedup = found[-1].value
        assert speedup == pytest.approx(
            float(Fraction(run.tokens, run.steps) * token / step), rel=1e-12
        )
        assert found[0].value == pytest.approx(run.tokens_per_step, rel=1e-15)
        assert found[0].value - math.fsum(bar.loss for bar in found) == pytest.approx(
            speedup, abs=1e-12 * max(bar.value for bar in found)
        )
        assert all(math.isfinite(number) for bar in found for number in (bar.value, bar.loss))


def test_the_bars_are_those_of_the_docstring() -> None:
    """In the notation of where_time_went.py: t = 3; P = 10 ms, of which 2 ms are overhead;
    v = 12 ms, d = 6 ms, o = 3 ms."""
    found = time_breakdown(RUN, PLAIN).bars
    assert [bar.name for bar in found] == ["tokens", "verify", "draft", "overhead"]
    assert [bar.value for bar in found] == pytest.approx([3, 30 / 14, 30 / 20, 30 / 21])
    assert [bar.loss for bar in found] == pytest.approx(
        [0, 3 - 30 / 14, 30 / 14 - 1.5, 1.5 - 30 / 21]
    )


@pytest.mark.parametrize(
    "change",
    [{"steps": 0, "tokens": 0}, {"seconds": {"draft": 1.0, "verify": 0.0, "overhead": 1.0}}],
)
def test_runs_without_steps_or_target_passes_are_refused(change: dict) -> None:
    with pytest.raises(BadTrace, match="the run has"):
        time_breakdown(replace(RUN, **change), PLAIN)
    with pytest.raises(BadTrace, match="the plain run has"):
        time_breakdown(RUN, replace(PLAIN, **change))


PLAN = predict(Tree.chain(3), Acceptance((0.5,)), PROFILE)


def test_each_part_alone_has_the_speedup_of_its_measured_value() -> None:
    """With all parts replaced, the result is the measured speed-up, which is also the last bar."""
    found = check_prediction(RUN, PLAN, PROFILE, PLAIN.total_seconds / PLAIN.tokens)
    before, after = (
        {part: getattr(step, part) for part in PARTS} for step in (found.predicted, found.measured)
    )
    assert found.predicted.speedup == pytest.approx(PLAN.predicted_speedup)
    assert speedup(before) == pytest.approx(PLAN.predicted_speedup)
    for part in PARTS:
        assert found.alone[part] == pytest.approx(speedup({**before, part: after[part]}))
    assert found.measured.speedup == pytest.approx(speedup(after))
    assert time_breakdown(RUN, PLAIN).bars[-1].value == pytest.approx(found.measured.speedup)


def speedup(values: dict[str, float]) -> float:
    return values["tokens"] * values["plain"] / sum(values[phase] for phase in PHASES)


def test_without_a_timed_plain_run_both_speedups_have_the_profiles_time() -> None:
    found = check_prediction(RUN, PLAN, PROFILE)
    assert not found.plain_measured
    assert found.measured.plain == found.predicted.plain == PROFILE.plain_seconds
