"""The verdict on one race or several, as values: places, ties, ratios with intervals, sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class PairVerdict:
    """Two lanes compared. faster, slower: their indexes in the race.

    ratio: pace (tokens per second) of `faster` over `slower`, at least 1.
    least, most: the 95% confidence interval of `ratio`, for this pair alone.
    per_step, step_time: ratios of tokens per step and of step time, `faster` over `slower`.
    per_step_range, step_time_range: their 95% confidence intervals.
    p: the p-value, corrected for the number of pairs and for `Verdict.looks`; None if the race was
        stopped.
    apart: whether the lanes count as different.
    certain: whether the corrected p-value is at most 5%. A pair with plain decoding can be `apart`
        without being `certain` (decide.py).
    expected: whether the tokens per step are expected values on the same texts (compare_pair.py).
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
    certain: bool = True


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
class Verdict:
    """The verdict on one race, or on several pooled races.

    order: indexes of the lanes that made steps, fastest first. In a race of two prompts, the lanes
        on the first prompt come first, and each prompt has its own places.
    places: one for each lane; None if it made no step.
    pairs: all pairs of lanes on the same prompt that are long enough to compare.
    scope: the prompts that the verdict holds for, in words.
    races: how many were pooled.
    tokens: the length of the shortest run.
    stopped: whether planned runs are missing or unfinished.
    paired: whether there are `pairs`, and in each of them the two texts count as the same
        (compare_pair.py).
    enough: whether these races would have found a true difference of 10% between the first two
        lanes, on each prompt.
    more_races: how many more races of this length would find such a difference. 0 if `enough`;
        None if unknown or too many.
    more_to_separate: how many more races would find the measured difference between the first two
        lanes. 0 if these lanes are `apart`; None if unknown or too many.
    looks: how many verdicts with p-values have been given on these runs or some of them, this one
        included.
    clock: the name of the simulated clock that gave all step times; empty if they were measured.
    speedup_ratios: one for each decoder whose speed-up over plain decoding is known on both
        prompts; empty unless the race has two prompts.
    sentence: the verdict in words.
    details: the sentences under the page's heading "How sure?".
    """

    order: tuple[int, ...]
    places: tuple[LanePlace | None, ...]
    pairs: tuple[PairVerdict, ...]
    scope: str
    races: int
    tokens: int
    stopped: bool
    paired: bool
    enough: bool
    more_races: int | None
    more_to_separate: int | None
    looks: int = 1
    clock: str = ""
    speedup_ratios: tuple[SpeedupRatio, ...] = ()
    sentence: str = ""
    details: tuple[str, ...] = ()

    def pair(self, one: int, other: int) -> PairVerdict | None:
        """The comparison of two lanes, whichever is faster."""
        wanted = {one, other}
        return next((pair for pair in self.pairs if {pair.faster, pair.slower} == wanted), None)

    @property
    def leaders(self) -> tuple[int, ...]:
        """The lanes in first place."""
        return tuple(lane for lane in self.order if getattr(self.places[lane], "place", 0) == 1)

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values."""
        return asdict(self)
