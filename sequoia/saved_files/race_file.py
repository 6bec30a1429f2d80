"""A race as one JSON file: the run of every lane, the results of the analysis after the race, and
further runs with other prompts, other seeds or both. Files are read and written without the models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, with_config

from sequoia.algorithm.expected_steps import SEGMENTS, ExpectedSteps
from sequoia.algorithm.sampling_params import GREATEST_SEED
from sequoia.algorithm.tree import MAX_NODES
from sequoia.checked_types import CONFIG, Count, LongText, Many, Name, Seconds, Truth, Words
from sequoia.errors import BadTrace
from sequoia.saved_files.race_results import MOST_LANES, Result
from sequoia.saved_files.run_file import SavedRun, clock_of, file_text, numbered_trees, of_file
from sequoia.saved_files.run_meta import RaceMeta
from sequoia.validate_input import MAX_JSON_BYTES, read_dict, read_file, shown

# -- further runs: with other prompts, other seeds or both -----------------------------------------


MOST_RUNS = 40  # of one race, including its first run


def _checked_steps(expected: ExpectedSteps) -> ExpectedSteps:
    tokens, steps = expected.tokens, expected.steps
    if not 1 <= len(tokens) == len(steps) <= MOST_LANES:
        raise BadTrace(
            f"expected_steps: {len(tokens)} texts, but {len(steps)} lists of steps; the two "
            f"numbers must be equal, from 1 to {MOST_LANES}"
        )
    if not all(tokens) or any(len(of_text) != SEGMENTS for of_text in steps):
        raise BadTrace(f"expected_steps: each text needs tokens and {SEGMENTS} segments")
    if not all(map(sum, steps)):
        raise BadTrace("expected_steps: the expected steps of a text must not all be 0")
    return expected


SavedExpectedSteps = Annotated[ExpectedSteps, AfterValidator(_checked_steps)]


@dataclass(frozen=True)
class PooledLane:
    """One lane of a further run. counts, seconds: number of tokens and time of each step. tokens:
    the ids of all tokens. expected_steps: how many steps the lane is expected to need for each text
    of the run, None if that is not known."""

    counts: Many[Annotated[int, Field(strict=True, ge=1)]]
    seconds: Many[Seconds]
    tokens: Many[Count]
    expected_steps: SavedExpectedSteps | None = None

    @property
    def steps(self) -> tuple[tuple[int, float], ...]:
        """(number of tokens, seconds) of each step."""
        return tuple(zip(self.counts, self.seconds, strict=True))


def _checked_further_lane(lane: PooledLane) -> PooledLane:
    counts, seconds, tokens = lane.counts, lane.seconds, lane.tokens
    if not counts or len(counts) != len(seconds) or sum(counts) != len(tokens):
        raise BadTrace(
            f"a further run of {len(counts)} steps with {sum(counts)} tokens in total, "
            f"{len(seconds)} step times and a text of {len(tokens)} tokens; expected at least one "
            "step, one time for each step, and as many tokens in the text as in the steps"
        )
    return lane


@dataclass(frozen=True)
class PooledRun:
    """One further run. All lanes have the same seed. In a race of two prompts, each lane uses
    `prompt` or `second_prompt`; otherwise all lanes use `prompt`."""

    prompt: LongText
    seed: Annotated[int, Field(strict=True, ge=0, le=GREATEST_SEED)]
    lanes: Many[Annotated[PooledLane, AfterValidator(_checked_further_lane)]]
    second_prompt: LongText = ""


@dataclass(frozen=True)
class Pool:
    """The further runs of a race. Each time the visitor asks for more runs, a series is made.
    verdicts: how many verdicts with p-values there have been, including the first run's; the
    p-values are corrected for this number. stopped: whether the last series is incomplete, because
    it ended early or is still running."""

    runs: Annotated[Many[PooledRun], Field(max_length=MOST_RUNS - 1)] = ()
    verdicts: Annotated[int, Field(strict=True, ge=1, le=MOST_RUNS)] = 1
    stopped: Truth = False


# -- a race ----------------------------------------------------------------------------------------


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
