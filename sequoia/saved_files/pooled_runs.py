"""The further runs of a race, over other prompts and seeds, as its file keeps them: tokens and
seconds of every step of each lane, and the ids of its tokens. Needs no models.

In a race file: {runs: [{prompt, seed, lanes: [{tokens: of each step, seconds: of each step, text:
token ids, expected}], second_prompt}], verdicts, stopped}. `second_prompt` is missing in a race of
one; `expected` where it is not known, see check_fields.py.
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

MOST_RUNS = 40  # of one race, the first one included
_LONGEST = 1e6  # seconds of a step


@dataclass(frozen=True)
class PooledLane:
    """One lane of a further run. steps: (tokens, seconds) of each. text: ids of all tokens.
    expected: None where it is not known."""

    steps: tuple[tuple[int, float], ...]
    text: tuple[int, ...]
    expected: ExpectedSteps | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "tokens": [tokens for tokens, _ in self.steps],
            "seconds": [round(seconds, 7) for _, seconds in self.steps],
            "text": list(self.text),
            **({"expected": expected_to_dict(self.expected)} if self.expected else {}),
        }


@dataclass(frozen=True)
class PooledRun:
    """One further run: all lanes with one seed, on one prompt or, in a race of two prompts, each on
    its own."""

    prompt: str
    seed: int
    lanes: tuple[PooledLane, ...]
    second_prompt: str = ""

    def to_dict(self) -> dict[str, Any]:
        lanes = [lane.to_dict() for lane in self.lanes]
        second = {"second_prompt": self.second_prompt} if self.second_prompt else {}
        return {"prompt": self.prompt, "seed": self.seed, "lanes": lanes, **second}


@dataclass(frozen=True)
class Pool:
    """The further runs of a race. verdicts: how many verdicts with p-values there are on its runs,
    the first race's included. stopped: whether the last series of runs ended before all were made,
    so that its verdict has no p."""

    runs: tuple[PooledRun, ...] = ()
    verdicts: int = 1
    stopped: bool = False

    def to_dict(self) -> dict[str, Any]:
        runs = [run.to_dict() for run in self.runs]
        return {"runs": runs, "verdicts": self.verdicts, "stopped": self.stopped}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], lanes: int) -> Pool:
        """The pool of a race of `lanes` lanes. Raises BadTrace, or KeyError for a missing field."""
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
            f"{what}: {len(tokens)} steps of {sum(tokens)} tokens, {len(seconds)} times and a text "
            f"of {len(text)}; expected one time for each step, and all tokens of the text"
        )
    ids = tuple(whole(one, f"{what}: token id", 0, MAX_ID, BadTrace) for one in text)
    expected = data.get("expected")
    return PooledLane(
        tuple(zip(tokens, seconds, strict=True)), ids, expected and expected_of(expected, what)
    )
