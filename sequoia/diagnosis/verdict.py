"""The verdict on one race or several, as values: who won, places, ties, ratios with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sequoia.diagnosis.compare_runs import Code, Speedup


@dataclass(frozen=True)
class PairVerdict:
    """Two lanes compared. faster, slower: their indexes in the race.

    ratio: pace (tokens per second) of `faster` over `slower`, at least 1.
    least, most: the confidence interval of `ratio`. Like `p`, it is corrected for the number of
        pairs and for `RaceVerdict.looks`: it excludes 1 exactly if `p` is below 5%.
    per_step, step_time: ratios of tokens per step and of step time, `faster` over `slower`.
    per_step_range, step_time_range: their confidence intervals, corrected alike.
    p: the corrected p-value; None if the race was stopped.
    apart: whether the lanes count as different: the interval of `ratio` excludes 1.
    expected: whether the tokens per step are expected values on the same texts (compare_runs.py).
    """

    faster: int
    slower: int
    ratio: float
    least: float
    most: float
    per_step: float
    step_time: float
    p: float | None
    apart: bool
    per_step_range: tuple[float, float]
    step_time_range: tuple[float, float]
    expected: bool = False


@dataclass(frozen=True)
class LaneSpeedup:
    """The pace of a lane over that of lane `over`, which is the plain lane on the same prompt, or
    without one the slowest lane."""

    over: int
    code: Code
    ratio: float
    low: float | None
    high: float | None

    @property
    def speedup(self) -> Speedup:
        return Speedup(self.ratio, self.low, self.high)


@dataclass(frozen=True)
class Headline:
    """Who won on one prompt.

    prompt_name: the name of the prompt in a race of two prompts, otherwise empty. winner: the only
    lane in first place. rival: the lane that it is compared with: for a tree the best chain, for a
    chain the best tree, otherwise the next lane. best: "chain" or "tree" if the rival is the best
    of several chains or trees, and the winner is of another kind. The last three are only
    meaningful with the code "wins".
    """

    prompt_name: str
    code: Literal["wins", "too_close", "too_short"]
    winner: int = -1
    rival: int = -1
    best: str = ""


@dataclass(frozen=True)
class SpeedupRatio:
    """A decoder's speed-ups over plain decoding on two prompts, each with a lane of the decoder.

    larger, smaller: the prompts with the larger and the smaller speed-up. ratio: the larger
    speed-up divided by the smaller, at least 1. least, most: its 95% confidence interval.
    """

    name: str
    larger: str
    smaller: str
    ratio: float
    least: float
    most: float


@dataclass(frozen=True)
class LanePlace:
    """place: counted from 1. tied: whether other lanes share it."""

    place: int
    tied: bool


@dataclass(frozen=True)
class RaceVerdict:
    """The verdict on one race, or on several pooled races.

    order: indexes of the lanes that made steps, fastest first. In a race of two prompts, the lanes
        on the first prompt come first, and each prompt has its own places.
    places: one for each lane; None if it made no step.
    pairs: all pairs of lanes on the same prompt that are long enough to compare.
    prompts: how many prompts the verdict holds for.
    races: how many were pooled.
    tokens: the length of the shortest run.
    stopped: whether planned runs are missing or unfinished.
    paired: whether there are `pairs`, and in each of them the two texts count as the same
        (compare_runs.py).
    more_races: how many more races of this length would find the measured difference between the
        first two lanes, on each prompt. 0 if these lanes are `apart`; None if unknown or too many.
    looks: how many verdicts with p-values have been given on these runs or some of them, this one
        included.
    clock: the name of the simulated clock that gave all step times; empty if they were measured.
    speedup_ratios: one for each decoder whose speed-up over plain decoding is known on both
        prompts; empty unless the race has two prompts.
    headlines: one for each prompt.
    speedups: one for each lane; None for a lane without steps, and for the lane that the others on
        its prompt are compared with.
    """

    order: tuple[int, ...]
    places: tuple[LanePlace | None, ...]
    pairs: tuple[PairVerdict, ...]
    prompts: int
    races: int
    tokens: int
    stopped: bool
    paired: bool
    more_races: int | None
    looks: int = 1
    clock: str = ""
    speedup_ratios: tuple[SpeedupRatio, ...] = ()
    headlines: tuple[Headline, ...] = ()
    speedups: tuple[LaneSpeedup | None, ...] = ()

    def pair(self, one: int, other: int) -> PairVerdict | None:
        """The comparison of two lanes, whichever is faster."""
        wanted = {one, other}
        return next((pair for pair in self.pairs if {pair.faster, pair.slower} == wanted), None)

    @property
    def leaders(self) -> tuple[int, ...]:
        """The lanes in first place."""
        return tuple(lane for lane in self.order if getattr(self.places[lane], "place", 0) == 1)
