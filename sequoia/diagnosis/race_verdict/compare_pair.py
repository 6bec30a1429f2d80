"""Two lanes compared over the races in which both ran: the ratio of their pace, and how sure it is.

The pace is tokens per second: tokens per step over the step time. Both ratios are taken in each
race, as logarithms, and averaged over races, each weighted with its tokens. The error of one race
comes from the jackknife over eight segments of equally many tokens, the two lanes paired segment by
segment: if the texts are the same, these are the same positions of one text, so easy and hard
passages cancel.

If the texts differ, the segments of a run do not show how much runs differ from each other: one
that starts to repeat itself stays easy to draft to its end. So each lane with a draft gets a
further error of its tokens per step, `RUN_SPREAD`, however long the run. It is set so that
`python -m sequoia.bench.race_errors` finds its goals met on recorded runs.

Where it is known how many steps each lane needs for the same texts on average over all draws
(`sequoia.algorithm.expected_steps`), these replace the steps that were made: neither the luck of
the draws nor the difficulty of a text then counts, and the lanes are again paired segment by
segment.
What is left is that texts suit the lanes differently, `TEXT_SPREAD`.

Tokens per step and step time have an error each, from the same segments. With several races, the
error of one race and the scatter of the races are pooled, the first with the weight of its degrees
of freedom.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.diagnosis.race_verdict.lane_runs import LaneRun, LaneRuns, common_tokens
from sequoia.diagnosis.race_verdict.student_t import critical_value, two_sided_p

SEGMENTS = 8
LEAST_SEGMENTS = 3
STEPS_PER_SEGMENT = 2
RUN_SPREAD = 0.17  # standard deviation of the logarithm of the tokens per step from run to run
# the same of the ratio between two lanes on the same text from text to text, for what segments do
# not show of it; by how many of the two have a draft
TEXT_SPREAD = (0.0, 0.12, 0.07)
CLOCK_SPREAD = 0.02  # the same of the step time of each lane, for what segments do not show of it
SAME_TEXT = 0.9  # of the shorter text: what two texts must share to be compared by position
MOST_RACES = 1000
_POWER = 1.645  # normal quantile of 95%: some power is lost, as the error is an estimate
_LARGEST_LOG = 25.0  # of a ratio; few and uneven steps leave an interval without bounds
Triple = tuple[float, float, float]  # of pace, tokens per step and step time
Interval = tuple[float, float]


@dataclass(frozen=True)
class Comparison:
    """Natural logarithms of lane `one` over lane `other`: pace, tokens per step and step time.

    variances: of the three, for a race of one token (divide by the tokens of all races). tokens: of
    all races that both lanes ran in. races: their number. freedom: degrees of freedom of
    `variances`. paired: whether all texts are the same. expected: whether the tokens per step of
    all races are those expected on the same texts.
    """

    pace: float
    per_step: float
    step_time: float
    variances: Triple
    tokens: int
    races: int
    freedom: int
    paired: bool
    expected: bool = False

    @property
    def error(self) -> float:
        """The standard error of `pace`."""
        return math.sqrt(self.variances[0] / self.tokens)

    @property
    def p(self) -> float:
        """Two-sided p of equal pace, for this pair alone."""
        if self.error == 0:
            return 1.0 if self.pace == 0 else 0.0
        return two_sided_p(self.pace / self.error, self.freedom)

    @property
    def intervals(self) -> tuple[Interval, Interval, Interval]:
        """The 95% confidence intervals of the ratios of pace, tokens per step and step time."""
        pace, per_step, step_time = self.variances
        return (
            self._interval(self.pace, pace),
            self._interval(self.per_step, per_step),
            self._interval(self.step_time, step_time),
        )

    def _interval(self, log: float, variance: float) -> Interval:
        reach = critical_value(0.05, self.freedom) * math.sqrt(variance / self.tokens)
        return bounded_exp(log - reach), bounded_exp(log + reach)

    def races_to_find(self, ratio: float, level: float = 0.05) -> int | None:
        """How many races of this length, those made included, find a true ratio of pace of `ratio`
        at `level`; None if more than MOST_RACES."""
        if not self._finds(MOST_RACES, ratio, level):
            return None
        return (
            bisect_left(range(1, MOST_RACES), True, key=lambda n: self._finds(n, ratio, level)) + 1
        )

    def _finds(self, races: int, ratio: float, level: float) -> bool:
        """Whether so many races of this length mostly find a true ratio of `ratio`."""
        freedom = self.freedom + races - self.races
        error = self.error * math.sqrt(self.races / races)
        return (critical_value(level, freedom) + _POWER) * error <= abs(math.log(ratio))


def bounded_exp(log: float) -> float:
    """The exponential of `log`, finite for any."""
    return math.exp(max(-_LARGEST_LOG, min(_LARGEST_LOG, log)))


@dataclass(frozen=True)
class RaceComparison:
    """Two lanes in one race. logs: natural logarithms of pace, tokens per step and step time, one
    over the other. variances: of the three, from this race alone. paired: whether the texts are the
    same. expected: whether the tokens per step are those expected on the same texts."""

    logs: Triple
    variances: Triple
    freedom: int
    tokens: int
    paired: bool
    expected: bool = False


CompareRace = Callable[[LaneRun, LaneRun, int], RaceComparison | None]


def compare_pair(one: LaneRuns, other: LaneRuns) -> Comparison | None:
    """`one` against `other` over the races that both ran in; None if no race is long enough for
    LEAST_SEGMENTS segments."""
    return pool([*races_of(one, other, compare_race)])


def races_of(one: LaneRuns, other: LaneRuns, compare: CompareRace) -> Iterator[RaceComparison]:
    """The comparison of each race that both lanes ran in and that is long enough."""
    drafted = (one.kind != "plain") + (other.kind != "plain")
    beside = {run.race: run for run in other.runs}
    for run in one.runs:
        if run.race in beside and (found := compare(run, beside[run.race], drafted)):
            yield found


def pool(races: Sequence[RaceComparison]) -> Comparison | None:
    """All races together; None without any."""
    if not races:
        return None
    weights = np.array([race.tokens for race in races], float)
    logs = np.array([race.logs for race in races])  # (races, 3)
    means = weights @ logs / weights.sum()
    scatter = weights @ (logs - means) ** 2
    within = weights @ np.array([race.variances for race in races]) / len(races)
    freedom = round(float(np.mean([race.freedom for race in races])))
    more = len(races) - 1
    return Comparison(
        *map(float, means),
        variances=_triple((freedom * within + scatter) / (freedom + more)),
        tokens=int(weights.sum()),
        races=len(races),
        freedom=freedom + more,
        paired=all(race.paired for race in races),
        expected=all(race.expected for race in races),
    )


def compare_race(one: LaneRun, other: LaneRun, drafted: int) -> RaceComparison | None:
    """Two lanes in one race, of which `drafted` have a draft; None if it is too short."""
    count = min(SEGMENTS, *(len(run.steps) // STEPS_PER_SEGMENT for run in (one, other)))
    if count < LEAST_SEGMENTS:
        return None
    shared = common_tokens(one.text, other.text)
    paired = shared > 0 and shared >= SAME_TEXT * min(one.tokens, other.tokens)
    tokens = (shared, shared) if paired else (one.tokens, other.tokens)
    runs = zip((one, other), tokens, strict=True)
    cut = np.stack([run.segments(made, count) for run, made in runs])
    totals = cut.sum(axis=2)  # (lanes, steps and seconds)
    left = totals[..., None] - cut  # without each segment: (lanes, steps and seconds, segments)
    if not (left > 0).all():  # no time passed by the clock
        return None
    logs = _logs(totals, np.log(tokens))
    without = _logs(left, np.log(tokens)[:, None])
    spread = (count - 1) * without.var(axis=1)  # of pace, tokens per step and step time
    clock = 2 * CLOCK_SPREAD**2
    per_step = spread[1] if paired else spread[1] + drafted * RUN_SPREAD**2
    step_time = spread[2] + clock
    pace = spread[0] + clock if paired else per_step + step_time
    expected = None if paired else compare_expected(one.expected, other.expected, drafted)
    if expected is not None:
        logs[1], per_step = expected
        logs[0] = logs[1] - logs[2]
        pace = per_step + step_time
    return RaceComparison(
        _triple(logs),
        _triple((pace, per_step, step_time)),
        count - 1,
        min(tokens),
        paired,
        expected is not None,
    )


def compare_expected(
    one: ExpectedSteps | None, other: ExpectedSteps | None, drafted: int
) -> tuple[float, float] | None:
    """Logarithm of the tokens per step of `one` over `other`, and its variance, from the steps that
    are expected of both at the same positions of the same texts; None where they are not known.
    drafted: how many of the two have a draft."""
    if one is None or other is None or one.tokens != other.tokens:
        return None
    steps = np.array([one.steps, other.steps]).reshape(2, -1)  # (lanes, segments of all texts)
    totals = steps.sum(axis=1)
    left = totals[:, None] - steps
    if not (left > 0).all():
        return None
    log = math.log(totals[1] / totals[0])
    without = np.log(left[1] / left[0])
    spread = (steps.shape[1] - 1) * float(without.var())
    differs = bool((steps[0] != steps[1]).any())
    return log, spread + differs * TEXT_SPREAD[drafted] ** 2 / len(one.tokens)


def _triple(values: Iterable[float]) -> Triple:
    pace, per_step, step_time = map(float, values)
    return pace, per_step, step_time


def _logs(totals: NDArray[np.float64], log_tokens: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pace, tokens per step and step time, first lane over second: (3, ...). totals: (lanes, steps
    and seconds, ...)."""
    log_steps = np.log(totals[:, 0])
    per_step = log_tokens - log_steps
    step_time = np.log(totals[:, 1]) - log_steps
    ratios = per_step[0] - per_step[1], step_time[0] - step_time[1]
    return np.stack([ratios[0] - ratios[1], *ratios])
