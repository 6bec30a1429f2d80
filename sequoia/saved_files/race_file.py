"""A race as one JSON file: the run of every lane, and the results of the analysis after the race.
Files are read and written without the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, with_config

from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.checked_types import (
    CONFIG,
    Amount,
    Count,
    Many,
    Name,
    Node,
    Number,
    Probability,
    Truth,
    Words,
)
from sequoia.errors import BadTrace
from sequoia.saved_files.pooled_runs import Pool, SavedExpectedSteps
from sequoia.saved_files.run_file import SUM, SavedRun, clock_of, file_text, numbered_trees, of_file
from sequoia.saved_files.run_meta import RaceMeta
from sequoia.validate_input import MAX_JSON_BYTES, read_dict, read_file, shown

MOST_LANES = 4
MAX_CELLS = 24
MAX_CONTEXT = 120
# The verdicts on whether decoding was lossless. At temperature 0: "exact", "tie", "bug" and
# "undecided". At higher temperatures: "fits" (the samples fit the distribution), "poor" (they fit
# it poorly), "bug", and "blind" (no difference could have been found). "none": there was nothing,
# or too little, to compare.
Kind = Literal["exact", "tie", "bug", "undecided", "fits", "poor", "blind", "none"]


# -- the analysis of a lane ------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """See `Bar` in where_time_went.py. words: a sentence about it."""

    name: Name
    value: Number
    loss: Number
    words: Words


@dataclass(frozen=True)
class TimeBreakdown:
    """Where a lane's time went."""

    bars: Annotated[Many[Bar], Field(max_length=8)]


def _require_tree(parents: tuple[int, ...]) -> tuple[int, ...]:
    return Tree.from_parents(parents).parents


@dataclass(frozen=True)
class Remedy:
    """predicted: the speed-up with the remedy. label: how it was obtained; "run": as the speed-ups
    of the race itself. parents: of the suggested tree, None without one."""

    words: Words
    predicted: Number
    label: Literal["predicted", "predicted, what if", "run"]
    parents: (
        Annotated[Many[Annotated[int, Field(strict=True)]], AfterValidator(_require_tree)] | None
    ) = None


@dataclass(frozen=True)
class WhatToTry:
    """speedup: of the lane. loss: the name of the largest loss, None if there is none."""

    speedup: Number
    words: Words
    remedies: Annotated[Many[Remedy], Field(max_length=32)]
    loss: Name | None = None


@dataclass(frozen=True)
class Cell:
    """Counts one token. The last cell may instead count all rare tokens, with or without a common
    one. text: the token's text, None for the rare tokens alone. more: true for a token with the
    rare ones. share: expected probability of the cell. seen: number drawn."""

    text: Name | None
    more: Truth
    share: Probability
    seen: Count


@dataclass(frozen=True)
class SampleCount:
    """The counts of sampled tokens at one position.

    draws: number drawn so far. wanted: number to draw in total. going: whether more are being
    drawn. lane: index of the lane whose text has the position. position: number of that lane's
    tokens before it. bits: entropy of the target's distribution there. rule: why this position was
    chosen. context: the end of the text before it. statistic: chi-square or None. freedom: its
    degrees of freedom. detectable_difference: roughly how far the probability of the most probable
    token must be off to be detected, or None.
    """

    draws: Count
    wanted: Count
    going: Truth
    position: Node
    lane: Annotated[int, Field(strict=True, ge=0, lt=MOST_LANES)]
    bits: Amount
    rule: Words
    context: Annotated[str, Field(strict=True, max_length=MAX_CONTEXT)]
    freedom: Count
    cells: Annotated[Many[Cell], Field(max_length=MAX_CELLS)]
    statistic: Amount | None = None
    detectable_difference: Probability | None = None


def _checked_count(count: SampleCount) -> SampleCount:
    if sum(cell.share for cell in count.cells) > SUM:
        raise BadTrace("count: the shares of the cells add up to more than 1")
    return count


@dataclass(frozen=True)
class Lossless:
    """Whether a lane's text is lossless. index: of the first token that differs, None if none
    does."""

    kind: Kind
    words: Words
    label: Literal["measured", "recorded"]
    index: Node | None = None
    p_value: Probability | None = None
    count: Annotated[SampleCount, AfterValidator(_checked_count)] | None = None


@dataclass(frozen=True)
class Result:
    """The analysis of a lane. A part is None if it could not be computed."""

    time_breakdown: TimeBreakdown | None = None
    what_to_try: WhatToTry | None = None
    lossless: Lossless | None = None


# -- the race --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LaneLog:
    """One lane of a race. description: its tree in words. plain: whether it decodes without a
    draft, so that the tree of every step has only one node. most: the most nodes that a tree of
    this lane may have. changes: whether the tree changes from step to step. prompt_name: in a race
    of two prompts, the name of this lane's prompt, such as "code"; otherwise ""."""

    name: Name
    description: Words
    verifier: Name
    plain: Truth
    most: Annotated[int, Field(strict=True, ge=1, le=MAX_NODES)]
    changes: Truth
    run: SavedRun
    prompt_name: Name = ""

    @property
    def prompt(self) -> str:
        """The prompt of the run."""
        return self.run.meta.get("prompt", "")

    @property
    def full_name(self) -> str:
        """The lane's name, followed by "on" and the prompt's name in a race of two prompts."""
        return f"{self.name} on {self.prompt_name}" if self.prompt_name else self.name


def _checked_lane(lane: LaneLog) -> LaneLog:
    widest = max((len(step.tree) for step in lane.run.steps), default=1)
    limit = 1 if lane.plain else lane.most
    if widest > limit:
        raise BadTrace(f"{lane.name}: a tree has {widest} nodes; the limit of this lane is {limit}")
    return lane


@with_config(CONFIG)
@dataclass(frozen=True)
class RaceLog:
    """A race, as far as it has run. Raises BadTrace if the lanes have different clocks (see `Run`),
    or if the clock in `meta` is not valid (see `clock_of`).

    meta: the description that all lanes share. results: the analysis of each lane, None for a lane
    without one. pool: the further runs. expected_steps: of each lane, None for a lane where they
    are not known. results, pool and expected_steps are None if the race has none.
    """

    meta: RaceMeta
    lanes: Annotated[
        Many[Annotated[LaneLog, AfterValidator(_checked_lane)]],
        Field(min_length=1, max_length=MOST_LANES),
    ]
    results: Many[Result | None] | None = None
    pool: Pool | None = None
    expected_steps: Many[SavedExpectedSteps | None] | None = None

    def __post_init__(self) -> None:
        clock_of(self.meta)  # raises if it is not valid
        clocks = sorted({clock_of(lane.run.meta) for lane in self.lanes})
        if len(clocks) > 1:
            raise BadTrace(
                f"the lanes have the clocks {', '.join(map(shown, clocks))}; all lanes of a race "
                "must have the same clock"
            )

    def in_order(self) -> Iterator[tuple[int, int]]:
        """All steps as (lane, step), in the order of the race. The lane with the least decode time
        so far makes the next step; in a tie, the first such lane. Lanes without steps left are
        passed over."""
        seconds = [0.0] * len(self.lanes)
        made = [0] * len(self.lanes)
        while running := [
            lane for lane, log in enumerate(self.lanes) if made[lane] < len(log.run.steps)
        ]:
            lane = min(running, key=lambda lane: seconds[lane])
            yield lane, made[lane]
            seconds[lane] += self.lanes[lane].run.steps[made[lane]].total_seconds
            made[lane] += 1

    def to_json(self) -> str:
        """The text of a file that the app can open. Raises BadTrace if it would be too large."""
        trees = numbered_trees(step for lane in self.lanes for step in lane.run.steps)
        return file_text("race", _race(), self, trees)

    @classmethod
    def from_dict(cls, data: Any) -> RaceLog:
        """The race in `data`, the JSON values of a race file. Raises BadTrace, and nothing else,
        if they are not complete and valid."""
        return read_dict(data, "race", BadTrace, _read)

    @classmethod
    def from_json(cls, text: str) -> RaceLog:
        """The race in `text`, the content of a race file. Raises BadTrace, and nothing else, if it
        is not complete and valid."""
        return read_file(text, "race", MAX_JSON_BYTES, BadTrace, _read)


def _complete(race: RaceLog) -> RaceLog:
    count = len(race.lanes)
    for name, parts in (("results", race.results), ("expected_steps", race.expected_steps)):
        if parts is not None and len(parts) != count:
            raise BadTrace(f"{len(parts)} {name} for {count} lanes")
    for run in race.pool.runs if race.pool else ():
        if len(run.lanes) != count:
            raise BadTrace(f"a further run of {len(run.lanes)} lanes in a race of {count}")
    return race


@cache
def _race() -> TypeAdapter[RaceLog]:
    return TypeAdapter(Annotated[RaceLog, AfterValidator(_complete)])


@cache
def saved_results() -> TypeAdapter[tuple[Result | None, ...]]:
    """The form of results in JSON."""
    return TypeAdapter(tuple[Result | None, ...])


def _read(data: Mapping[str, Any]) -> RaceLog:
    return of_file(_race(), data)
