"""Two lanes compared over the races in which both ran: the ratio of their paces, and its interval.
(A race decodes a prompt in several ways side by side; each way is a lane.)

The pace is tokens per second: tokens per step divided by the step time. In each race, three ratios
between the lanes are computed, as logarithms: of the pace, the tokens per step and the step time.

One race: the error comes from the jackknife over up to eight segments of equally many tokens. The
two lanes are paired segment by segment. If the texts are the same (see `SAME_TEXT`), paired
segments are the same positions of one text, so easy and hard passages cancel. `CLOCK_SPREAD`, a
further error of each lane's step time, is always added.

If the texts differ, the segments of a run do not show how much runs differ from each other: once a
run starts to repeat itself, it stays easy to draft until it ends. So `RUN_SPREAD` is added to the
error of the tokens per step, once for each lane with a draft. But if it is known how many steps
each lane is expected to need for the texts of all lanes (`sequoia.algorithm.expected_steps`), the
tokens per step are computed from these, so lucky draws and the difficulty of a text have no effect.
Some texts suit one lane better than the other, so `TEXT_SPREAD` is then used instead.

Several races: a paired t test over the logarithms of the races, where each race is weighted by its
number of tokens. The variance pools their scatter with the errors within races, each weighted by
its degrees of freedom. tests/diagnosis/test_false_alarms.py counts, on recorded runs, how often
equal lanes are called different.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.algorithm.step_trace import common_tokens
from sequoia.diagnosis.student_t import critical_value, two_sided_p

Step = tuple[int, float]  # tokens, seconds


@dataclass(frozen=True)
class LaneRun:
    """One lane in one race. prompt, seed: those of the lane; only lanes with the same prompt and
    seed are compared. steps: (tokens, seconds) of each step. text: the ids of the emitted tokens,
    or () if unknown. clock: the name of the simulated clock that gave the times, empty if they were
    measured. expected: the steps that the lane is expected to need for the text of each lane with
    the same prompt, None if unknown."""

    prompt: Hashable
    seed: int
    steps: tuple[Step, ...]
    text: tuple[int, ...] = field(default=(), repr=False)
    clock: str = ""
    expected: ExpectedSteps | None = None

    @property
    def race(self) -> tuple[Hashable, int]:
        return self.prompt, self.seed

    @cached_property
    def tokens(self) -> int:
        return sum(tokens for tokens, _ in self.steps)

    @cached_property
    def _running(self) -> NDArray[np.float64]:
        """Running totals of tokens, steps and seconds, before each step and after the last:
        (3, steps + 1)."""
        tokens, seconds = np.array(self.steps, float).reshape(-1, 2).T
        rows = np.vstack([tokens, np.ones_like(tokens), seconds])
        return np.hstack([np.zeros((3, 1)), np.cumsum(rows, axis=1)])

    def segments(self, tokens: int, count: int) -> NDArray[np.float64]:
        """(2, count): steps and seconds in each of `count` segments of equal length, from the start
        of the text to position `tokens`. A step that crosses the end of a segment is divided
        among the segments in proportion to its tokens in each."""
        made, steps, seconds = self._running
        cuts = np.linspace(0, tokens, count + 1)
        return np.diff(np.vstack([np.interp(cuts, made, steps), np.interp(cuts, made, seconds)]))


@dataclass(frozen=True)
class LaneRuns:
    """One lane in one or several races. kind: "plain", "chain" or "tree"; a chain is a tree in
    which no node has two children. prompt_name: the name of the lane's prompt in a race of two
    prompts, otherwise empty."""

    name: str
    kind: str
    runs: tuple[LaneRun, ...]
    prompt_name: str = ""

    @property
    def races(self) -> list[tuple[Hashable, int]]:
        """The races in which the lane made a step."""
        return [run.race for run in self.runs if run.tokens]

    @property
    def tokens(self) -> int:
        return sum(run.tokens for run in self.runs)

    @property
    def steps(self) -> int:
        return sum(len(run.steps) for run in self.runs)

    @property
    def seconds(self) -> float:
        return sum(seconds for run in self.runs for _, seconds in run.steps)

    @property
    def tokens_per_step(self) -> float:
        return self.tokens / self.steps

    @property
    def expected_tokens_per_step(self) -> float | None:
        """Expected tokens per step over all runs in which the lane made a step. None if there is
        no such run, or if one has no `expected`."""
        expected = [run.expected for run in self.runs if run.tokens]
        tokens = sum(sum(one.tokens) for one in expected if one)
        steps = sum(sum(map(sum, one.steps)) for one in expected if one)
        return tokens / steps if steps and None not in expected else None

    @property
    def step_seconds(self) -> float:
        return self.seconds / self.steps


SEGMENTS = 8
LEAST_SEGMENTS = 3
STEPS_PER_SEGMENT = 2
# Variation that the segments of one run do not show, as standard deviations of logarithms.
# RUN_SPREAD: a lane's tokens per step, from run to run. TEXT_SPREAD: the ratio of two lanes'
# expected tokens per step, from text to text; its index is how many of the two have a draft.
# CLOCK_SPREAD: a lane's step time.
RUN_SPREAD = 0.17
TEXT_SPREAD = (0.0, 0.12, 0.07)
CLOCK_SPREAD = 0.02
# Two texts count as the same if they begin alike for at least this share of the shorter one. The
# lanes are then compared over the tokens that the texts share.
SAME_TEXT = 0.9
MOST_RACES = 1000
LEVEL = 0.05  # largest p-value at which two lanes count as different
# normal quantile of 95% power; the true power is a little lower, because the error is an estimate
_POWER = 1.645
# largest logarithm of a ratio: with few and uneven steps, the bounds of an interval could overflow
_LARGEST_LOG = 25.0
Triple = tuple[float, float, float]  # pace, tokens per step, step time
Interval = tuple[float, float]
Code = Literal["win", "slower", "no_clear_difference"]


@dataclass(frozen=True)
class Comparison:
    """Lane `one` over lane `other`, in one race or several.

    logs: natural logarithms of three ratios: pace, tokens per step and step time. variances: of
        `logs`. freedom: degrees of freedom of `variances`.
    tokens: compared in all races: in each, the length of the shared text if `paired`, otherwise of
        the shorter run.
    paired: whether the lanes' texts count as the same in every race (`SAME_TEXT`).
    expected: whether the tokens per step of all races are expected values on the same texts.
    """

    logs: Triple
    variances: Triple
    freedom: int
    tokens: int
    paired: bool
    expected: bool = False
    races: int = 1

    @property
    def pace(self) -> float:
        """The natural logarithm of the ratio of the paces."""
        return self.logs[0]

    @property
    def error(self) -> float:
        """The standard error of `pace`."""
        return math.sqrt(self.variances[0])

    @property
    def p(self) -> float:
        """Two-sided p-value for equal pace, for this pair alone."""
        if self.error == 0:
            return 1.0 if self.pace == 0 else 0.0
        return two_sided_p(self.pace / self.error, self.freedom)

    @property
    def inverse(self) -> Comparison:
        """The other lane over this one."""
        return replace(self, logs=_triple(-log for log in self.logs))

    def intervals(self, level: float = LEVEL) -> tuple[Interval, Interval, Interval]:
        """The confidence intervals of the ratios of pace, tokens per step and step time, at
        confidence 1 - `level`. That of the pace excludes 1 exactly if `p` is below `level`."""
        critical = critical_value(level, self.freedom)
        pace, per_step, step_time = (
            (bounded_exp(log - critical * error), bounded_exp(log + critical * error))
            for log, error in zip(self.logs, map(math.sqrt, self.variances), strict=True)
        )
        return pace, per_step, step_time

    def races_to_find(self, ratio: float, level: float = LEVEL) -> int | None:
        """How many races of this length, including the past ones, it takes to find a true pace
        ratio of `ratio` at significance `level`; None if more than MOST_RACES."""
        if not self._finds(MOST_RACES, ratio, level):
            return None
        return (
            bisect_left(range(1, MOST_RACES), True, key=lambda n: self._finds(n, ratio, level)) + 1
        )

    def _finds(self, races: int, ratio: float, level: float) -> bool:
        """Whether `races` races of this length find a true pace ratio of `ratio` with a probability
        of nearly 95%."""
        freedom = self.freedom + races - self.races
        error = self.error * math.sqrt(self.races / races)
        return (critical_value(level, freedom) + _POWER) * error <= abs(math.log(ratio))


@dataclass(frozen=True)
class Speedup:
    """ratio: pace (tokens per second) of the run over that of the other, usually plain decoding.

    low, high: the ends of the confidence interval of `ratio`; None if the runs are too short for
    one. code: "win" if the interval lies above 1, "slower" if it lies below 1.
    """

    ratio: float
    low: float | None = None
    high: float | None = None

    @property
    def code(self) -> Code:
        if self.low is not None and self.low > 1:
            return "win"
        if self.high is not None and self.high < 1:
            return "slower"
        return "no_clear_difference"

    def to_dict(self) -> dict[str, float | str | None]:
        """The fields and `code`, as JSON values."""
        return {"code": self.code, "ratio": self.ratio, "low": self.low, "high": self.high}


def speedup(run: LaneRuns, plain: LaneRuns) -> Speedup:
    """The speed-up of `run` over `plain`, with its 95% confidence interval, over all races in which
    both ran, whatever other lanes there are. `race_verdict` corrects its intervals for those. Both
    must have at least one step that took more than 0 seconds."""
    found = compare_pair(run, plain)
    if found is None:
        return Speedup(run.tokens / run.seconds * plain.seconds / plain.tokens)
    return Speedup(bounded_exp(found.pace), *found.intervals()[0])


def bounded_exp(log: float) -> float:
    """The exponential of `log`, with `log` clipped so that the result stays finite and above 0."""
    return math.exp(max(-_LARGEST_LOG, min(_LARGEST_LOG, log)))


def compare_pair(one: LaneRuns, other: LaneRuns) -> Comparison | None:
    """`one` compared with `other` over the races that both ran in. None if `compare_race` returns
    None for all these races, or there are none."""
    drafted = (one.kind != "plain") + (other.kind != "plain")
    beside = {run.race: run for run in other.runs}
    both = [(run, beside[run.race]) for run in one.runs if run.race in beside]
    return pool([found for pair in both if (found := compare_race(*pair, drafted))])


# Other programs can slow a whole race down. If the variance of the races' ratios is this many times
# what the variance within them explains, that has happened. By chance alone it is rare.
_UNLIKE = 3.0


def pool(races: Sequence[Comparison]) -> Comparison | None:
    """The comparison over all `races`, each a comparison of one race; None if there are none."""
    if len(races) < 2:
        return races[0] if races else None
    weights = np.array([race.tokens for race in races], float)
    logs = np.array([race.logs for race in races])  # (races, 3)
    means = weights @ logs / weights.sum()
    scatter = weights @ (logs - means) ** 2
    within = weights @ np.array([race.variances for race in races]) / len(races)
    freedom = round(float(np.mean([race.freedom for race in races])))
    more = len(races) - 1
    if scatter[0] > _UNLIKE * more * within[0]:
        freedom = 0  # the races differ by more than steps do, so only the scatter tells how sure
    return Comparison(
        _triple(means),
        _triple((freedom * within + scatter) / (freedom + more) / weights.sum()),
        freedom + more,
        int(weights.sum()),
        all(race.paired for race in races),
        all(race.expected for race in races),
        len(races),
    )


def compare_race(one: LaneRun, other: LaneRun, drafted: int) -> Comparison | None:
    """Two lanes compared in one race. drafted: how many of the two lanes have a draft. None if the
    race is too short for LEAST_SEGMENTS segments, or if at most one segment of a lane took more
    than 0 seconds."""
    count = min(SEGMENTS, *(len(run.steps) // STEPS_PER_SEGMENT for run in (one, other)))
    if count < LEAST_SEGMENTS:
        return None
    tokens, paired = compared_tokens(one, other)
    runs = zip((one, other), tokens, strict=True)
    cut = np.stack([run.segments(made, count) for run, made in runs])
    totals = cut.sum(axis=2)  # (lanes, steps and seconds)
    left = totals[..., None] - cut  # without each segment: (lanes, steps and seconds, segments)
    if not (left > 0).all():  # at most one segment of a lane took more than 0 seconds
        return None
    logs = _logs(totals, np.log(tokens))
    spread = _jackknife(_logs(left, np.log(tokens)[:, None]))
    found = Comparison(_triple(logs), _triple(spread), count - 1, min(tokens), paired)
    return _with_clock(found) if paired else _on_other_texts(found, one, other, drafted)


def _with_clock(found: Comparison) -> Comparison:
    """`found` with the error of the clocks of both lanes."""
    pace, per_step, step_time = found.variances
    clock = 2 * CLOCK_SPREAD**2
    return replace(found, variances=(pace + clock, per_step, step_time + clock))


def _on_other_texts(found: Comparison, one: LaneRun, other: LaneRun, drafted: int) -> Comparison:
    """`found` with the errors of two runs with different texts. Tokens per step and step time then
    vary independently."""
    step_time = found.variances[2] + 2 * CLOCK_SPREAD**2
    log = found.logs[1]
    per_step = found.variances[1] + drafted * RUN_SPREAD**2
    expected = compare_expected(one.expected, other.expected, drafted)
    if expected is not None:
        log, per_step = expected
    return replace(
        found,
        logs=(log - found.logs[2], log, found.logs[2]),
        variances=(per_step + step_time, per_step, step_time),
        expected=expected is not None,
    )


def compared_tokens(one: LaneRun, other: LaneRun) -> tuple[tuple[int, int], bool]:
    """How many tokens of each run are compared, and whether the texts count as the same
    (`SAME_TEXT`). If they do, only their common beginning is compared."""
    shared = common_tokens(one.text, other.text)
    if shared > 0 and shared >= SAME_TEXT * min(one.tokens, other.tokens):
        return (shared, shared), True
    return (one.tokens, other.tokens), False


def compare_expected(
    one: ExpectedSteps | None, other: ExpectedSteps | None, drafted: int
) -> tuple[float, float] | None:
    """Logarithm of the tokens per step of `one` over `other`, and its variance, from the expected
    steps of both lanes on the same texts. None if the expected steps of a lane are unknown, if the
    lengths of the texts differ, or if all steps of a lane start in one segment. drafted: how many
    of the two lanes have a draft."""
    if one is None or other is None or one.tokens != other.tokens:
        return None
    steps = np.array([one.steps, other.steps]).reshape(2, -1)  # (lanes, segments of all texts)
    totals = steps.sum(axis=1)
    left = totals[:, None] - steps
    if not (left > 0).all():
        return None
    log = math.log(totals[1] / totals[0])
    spread = float(_jackknife(np.log(left[1] / left[0])))
    differs = bool((steps[0] != steps[1]).any())
    return log, spread + differs * TEXT_SPREAD[drafted] ** 2 / len(one.tokens)


def _jackknife(without: NDArray[np.float64]) -> NDArray[np.float64]:
    """The variance of a figure. without: its value without each segment, (..., segments)."""
    return (without.shape[-1] - 1) * without.var(axis=-1)


def _triple(values: Iterable[float]) -> Triple:
    pace, per_step, step_time = map(float, values)
    return pace, per_step, step_time


def _logs(totals: NDArray[np.float64], log_tokens: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, ...): logarithms of pace, tokens per step and step time, first lane over second. totals:
    (lanes, 2, ...), where 2 is steps and seconds. log_tokens: (lanes,) or (lanes, 1)."""
    log_steps = np.log(totals[:, 0])
    per_step = log_tokens - log_steps
    step_time = np.log(totals[:, 1]) - log_steps
    ratios = per_step[0] - per_step[1], step_time[0] - step_time[1]
    return np.stack([ratios[0] - ratios[1], *ratios])
