"""The further runs of a race (with other prompts, other seeds or both), as stored in its file.
Needs no models.

The field `pool` of a race file: {runs: [{prompt, seed, lanes: [{tokens: number in each step,
seconds: time of each step, text: token ids, expected}], second_prompt}], verdicts: number, stopped:
bool}.
`second_prompt` is missing in a race with one prompt. `expected` is the lane's expected steps (see
check_fields.py), missing if they are not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.expected_steps import ExpectedSteps
from sequoia.algorithm.sampling_params import GREATEST_SEED
from sequoia.errors import BadTrace
from sequoia.saved_files.check_fields import expected_of, expected_to_dict, list_of, text_of
from sequoia.saved_files.run_file import MAX_ID, MAX_META_CHARS, MAX_STEPS
from sequoia.validate_input import number, truth, whole

MOST_RUNS = 40  # of one race, including its first run
_LONGEST = 1e6  # seconds of a step


@dataclass(frozen=True)
class PooledLane:
    """One lane of a further run. steps: (number of tokens, seconds) of each step. text: ids of all
    tokens. expected: how many steps the lane is expected to need for each text of the run, None if
    that is not known."""

    steps: tuple[tuple[int, float], ...]
    text: tuple[int, ...]
    expected: ExpectedSteps | None = None

    def to_dict(self) -> dict[str, Any]:
        """The lane as JSON values, in the format of a race file."""
        return {
            "tokens": [tokens for tokens, _ in self.steps],
            "seconds": [round(seconds, 7) for _, seconds in self.steps],
            "text": list(self.text),
            **({"expected": expected_to_dict(self.expected)} if self.expected else {}),
        }


@dataclass(frozen=True)
class PooledRun:
    """One further run. All lanes have the same seed. In a race of two prompts, each lane uses
    `prompt` or `second_prompt`; otherwise all lanes use `prompt`."""

    prompt: str
    seed: int
    lanes: tuple[PooledLane, ...]
    second_prompt: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON values, in the format of a race file."""
        lanes = [lane.to_dict() for lane in self.lanes]
        second = {"second_prompt": self.second_prompt} if self.second_prompt else {}
        return {"prompt": self.prompt, "seed": self.seed, "lanes": lanes, **second}


@dataclass(frozen=True)
class Pool:
    """The further runs of a race. Each time the visitor asks for more runs, a series is made.
    verdicts: how many verdicts with p-values there have been, including the first run's; the
    p-values are corrected for this number. stopped: whether the last series is incomplete, because
    it ended early or is still running."""

    runs: tuple[PooledRun, ...] = ()
    verdicts: int = 1
    stopped: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The pool as JSON values, in the format of a race file."""
        runs = [run.to_dict() for run in self.runs]
        return {"runs": runs, "verdicts": self.verdicts, "stopped": self.stopped}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], lanes: int) -> Pool:
        """The pool that `to_dict` wrote as `data`. lanes: the number of lanes in the race. Raises
        BadTrace, or KeyError for a missing field."""
        runs = list_of(data["runs"], "further runs", MOST_RUNS - 1)
        return cls(
            tuple(_run(run, f"further run {i + 1}", lanes) for i, run in enumerate(runs)),
            whole(data["verdicts"], "verdicts", 1, MOST_RUNS, BadTrace),
            truth(data["stopped"], "stopped", BadTrace),
        )


def _run(data: Mapping[str, Any], what: str, lanes: int) -> PooledRun:
    found = list_of(data["lanes"], f"{what}: lanes", lanes)
    if len(found) != lanes:
        raise BadTrace(f"{what}: {len(found)} lanes in a race of {lanes}")
    return PooledRun(
        text_of(data["prompt"], f"{what}: prompt", MAX_META_CHARS),
        whole(data["seed"], f"{what}: seed", 0, GREATEST_SEED, BadTrace),
        tuple(_lane(lane, what) for lane in found),
        text_of(data.get("second_prompt", ""), f"{what}: second prompt", MAX_META_CHARS),
    )


def _lane(data: Mapping[str, Any], what: str) -> PooledLane:
    made = list_of(data["tokens"], f"{what}: tokens", MAX_STEPS)
    times = list_of(data["seconds"], f"{what}: seconds", MAX_STEPS)
    text = list_of(data["text"], f"{what}: text", MAX_STEPS)
    tokens = [whole(one, f"{what}: tokens", 1, MAX_STEPS, BadTrace) for one in made]
    seconds = [number(one, f"{what}: seconds", 0, _LONGEST, BadTrace) for one in times]
    if not tokens or len(tokens) != len(seconds) or sum(tokens) != len(text):
        raise BadTrace(
            f"{what}: {len(tokens)} steps with {sum(tokens)} tokens in total, {len(seconds)} step "
            f"times and a text of {len(text)} tokens; expected at least one step, one time for "
            "each step, and as many tokens in the text as in the steps"
        )
    ids = tuple(whole(one, f"{what}: token id", 0, MAX_ID, BadTrace) for one in text)
    expected = data.get("expected")
    return PooledLane(
        tuple(zip(tokens, seconds, strict=True)),
        ids,
        None if expected is None else expected_of(expected, what),
    )
