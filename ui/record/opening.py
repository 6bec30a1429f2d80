"""The run that the page opens with: `python -m ui.record opening`.

Every prompt of assets/opening_prompts.json is decoded several times at temperature 0, each time
with a tree and beside it without a draft. The speed-up of a prompt is the median over its runs. The
page opens with a run of the prompt whose speed-up is nearest the median of all prompts. Two kinds
of prompts count for the median but are never chosen: those whose text repeats itself, and those
whose runs accept only first children. The run is written to welcome.json, with the speed-ups of all
prompts.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sequoia import SamplingParams, SequoiaError
from sequoia.algorithm.step_trace import StepTrace, emitted_tokens, repetition
from sequoia.assets_folder import ASSETS
from sequoia.saved_files.race_file import RaceLog
from sequoia.text_files import write_text
from ui.record.runs import opened_host, record, repeated, request_of, speedup_of
from ui.run import recordings
from ui.shared.prompts import read_prompts

PROMPTS = ASSETS / "opening_prompts.json"
REPEATED = 0.25  # a text with at least this share of repeated 8-grams counts as a loop


@dataclass(frozen=True)
class Candidate:
    """A prompt and its runs, in order of increasing speed-up. All runs emit the same text."""

    name: str
    runs: tuple[RaceLog, ...]

    @property
    def speedup(self) -> float:
        """The median speed-up of the runs."""
        return statistics.median(map(speedup_of, self.runs))

    @property
    def run(self) -> RaceLog:
        """The run whose speed-up is nearest the median."""
        return min(self.runs, key=lambda run: abs(speedup_of(run) - self.speedup))

    @property
    def has_side_child(self) -> bool:
        return any(map(accepts_side_child, self.run.lanes[0].run.steps))

    @property
    def is_loop(self) -> bool:
        """Whether the text repeats itself so much that it is hard to read."""
        return repetition(emitted_tokens(self.run.lanes[0].run.steps)) >= REPEATED


def accepts_side_child(step: StepTrace) -> bool:
    """Whether a step accepted a side child: a node that is not the first child of its parent."""
    return any(step.tree.ranks[node] > 0 for node in step.verdict.path[1:])


def chosen(candidates: Sequence[Candidate]) -> Candidate:
    """Of the candidates that accept a side child and whose text is not a loop, the one whose
    speed-up is nearest the median of all candidates. Raises SequoiaError if there is none."""
    median = statistics.median(one.speedup for one in candidates)
    branching = [one for one in candidates if one.has_side_child]
    if not branching:
        raise SequoiaError("every run accepted only first children; try more tokens")
    readable = [one for one in branching if not one.is_loop]
    if not readable:
        raise SequoiaError(
            "in every run that accepted a side child, the text repeats itself; try fewer tokens"
        )
    return min(readable, key=lambda one: abs(one.speedup - median))


def opening_meta(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """What the page says about the choice: the median of all prompts' speed-ups, the range of their
    middle 80%, and the speed-up of each prompt."""
    speedups = [one.speedup for one in candidates]
    tenths = statistics.quantiles(speedups, n=10, method="inclusive")
    return {
        "median": round(statistics.median(speedups), 3),
        "range": [round(tenths[0], 3), round(tenths[-1], 3)],
        "prompts": [[one.name, round(one.speedup, 3)] for one in candidates],
    }


def record_opening(tokens: int, rounds: int, folder: Path) -> None:
    """Write welcome.json to `folder`, and print the speed-up of every prompt. tokens: those of a
    run. rounds: runs per prompt."""
    candidates = _candidates(tokens, rounds)
    best = chosen(candidates)
    meta = opening_meta(candidates)
    run = replace(best.run, meta={**best.run.meta, "opening": meta})
    path = folder / f"{recordings.WELCOME}.json"
    write_text(path, run.to_json())
    for one in sorted(candidates, key=lambda one: one.speedup):
        facts = ["side child"] * one.has_side_child + ["loop"] * one.is_loop
        facts += ["<- chosen"] * (one is best)
        print(f"{one.name:18} {one.speedup:5.2f}x  {', '.join(facts)}")
    low, high = meta["range"]
    print(f"median {meta['median']:.2f}x, middle 80% {low:.2f}x to {high:.2f}x -> {path}")


def _candidates(tokens: int, rounds: int) -> list[Candidate]:
    params = SamplingParams(temperature=0.0, max_new_tokens=tokens, seed=0)
    host = opened_host()
    requests = {one.name: request_of(one.text, params) for one in read_prompts(PROMPTS)}
    makes = {
        name: lambda request=request: record(request, host) for name, request in requests.items()
    }
    runs = repeated(makes, rounds)
    return [Candidate(name, tuple(sorted(made, key=speedup_of))) for name, made in runs.items()]
