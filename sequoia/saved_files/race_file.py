"""A race as one JSON file: the run of every lane, and the results of the analysis after the race.
Files are read and written without the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, with_config

from sequoia.algorithm.tree import MAX_NODES
from sequoia.checked_types import CONFIG, Many, Name, Truth, Words
from sequoia.errors import BadTrace
from sequoia.saved_files.pooled_runs import Pool, SavedExpectedSteps
from sequoia.saved_files.race_results import MOST_LANES, Result
from sequoia.saved_files.run_file import SavedRun, clock_of, file_text, numbered_trees, of_file
from sequoia.saved_files.run_meta import RaceMeta
from sequoia.validate_input import MAX_JSON_BYTES, read_dict, read_file, shown

# Of the trees (or chains) that are predicted to be nearly as fast as the fastest, the one with the
# most expected tokens per step was chosen. Empty if the tree was not chosen in this way.
Rule = Literal["", "chains", "trees"]


@dataclass(frozen=True)
class LaneLog:
    """One lane of a race. description: its tree in words. plain: whether it decodes without a
    draft, so that the tree of every step has only one node. most: the most nodes that a tree of
    this lane may have. changes: whether the tree changes from step to step. prompt_name: in a race
    of two prompts, the name of this lane's prompt, such as "code"; otherwise "". rule: how a
    planned tree was chosen."""

    name: Name
    description: Words
    verifier: Name
    plain: Truth
    most: Annotated[int, Field(strict=True, ge=1, le=MAX_NODES)]
    changes: Truth
    run: SavedRun
    prompt_name: Name = ""
    rule: Rule = ""

    @property
    def prompt(self) -> str:
        """The prompt of the run."""
        return self.run.meta.get("prompt", "")


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
