"""The further runs of a race: with other prompts, other seeds or both. Needs no models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field

from sequoia.algorithm.expected_steps import SEGMENTS, ExpectedSteps
from sequoia.algorithm.sampling_params import GREATEST_SEED
from sequoia.checked_types import Count, LongText, Many, Seconds, Truth
from sequoia.errors import BadTrace

MOST_RUNS = 40  # of one race, including its first run
MAX_EXPECTED_TEXTS = 4  # a race has at most four lanes, and one text for each


def _checked_steps(expected: ExpectedSteps) -> ExpectedSteps:
    tokens, steps = expected.tokens, expected.steps
    if not 1 <= len(tokens) == len(steps) <= MAX_EXPECTED_TEXTS:
        raise BadTrace(
            f"expected_steps: {len(tokens)} texts, but {len(steps)} lists of steps; the two "
            f"numbers must be equal, from 1 to {MAX_EXPECTED_TEXTS}"
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


def _checked_lane(lane: PooledLane) -> PooledLane:
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
    lanes: Many[Annotated[PooledLane, AfterValidator(_checked_lane)]]
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
