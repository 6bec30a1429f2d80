"""The verdict of a race or of several, as values: places, ties, ratios with intervals, words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class PairVerdict:
    """Two lanes, the faster one first, by their index in the race.

    ratio: pace of `faster` over `slower`, at least 1. least, most: its 95% confidence interval,
    for this pair alone. per_step, step_time: ratios of tokens per step and of step time; their
    95% confidence intervals are per_step_range and step_time_range. expected: whether the tokens
    per step are those expected on the same texts, see compare_pair.py. p: after Holm's correction
    and that for several looks, None if the race was stopped. apart: whether they count as
    different. certain: whether p says so, so that the interval excludes 1; a lane can be apart from
    plain decoding without, see decide.py.
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
    """In a race of two prompts: the speed-up over plain decoding of the lane `name` on the prompt
    `larger` over that on `smaller`, at least 1, and its 95% confidence interval."""

    name: str
    larger: str
    smaller: str
    ratio: float
    least: float
    most: float


@dataclass(frozen=True)
class Place:
    """place: from 1. tied: whether other lanes share it."""

    place: int
    tied: bool


@dataclass(frozen=True)
class Verdict:
    """order: indexes of the lanes that made steps, fastest first; in a race of two prompts those on
    the first one come first, and each prompt has its own places. places: one for each lane, None
    if it made no step. pairs: those long enough to compare, on the same prompt. scope: what the
    verdict holds for. races: how many were pooled; tokens: of the shortest run of a lane. paired:
    whether the texts of all lanes on a prompt are the same. enough: whether these races find a true
    difference of 10% between the first two lanes. more_races: how many more of this length would; 0
    if these do, None if unknown or too many to be worth it. more_to_separate: the same for the
    difference measured between the first two, 0 if they are apart. looks: how many verdicts with
    p-values there are on these runs or some of them. clock: the name of the simulated clock that
    gave all step times, empty if they were measured. speedup_ratios: in a race of two prompts.
    sentence: the verdict; details: what stands behind it."""

    order: tuple[int, ...]
    places: tuple[Place | None, ...]
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
        """All of it in the form of JSON."""
        return asdict(self)
