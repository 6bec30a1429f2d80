"""Record the run that the page opens with: `python -m ui.record_opening`.

Every prompt of assets/opening_prompts.json is decoded several times at temperature 0, each time
with a tree and then without a draft. The speed-up of a prompt is the median over its runs. The page
opens with a run of the prompt whose speed-up is nearest the median of all prompts. Two kinds of
prompts count for the median but are never chosen: those whose text repeats itself, and those whose
runs accept only first children. The run is written to welcome.json, with the speed-ups of all
prompts.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sequoia import Run, SamplingParams, SequoiaError, load_pair
from sequoia.algorithm.step_trace import StepTrace, emitted_tokens, repetition
from sequoia.assets_folder import ASSETS
from sequoia.text_files import write_text
from ui.decode import recordings
from ui.decode.request import DecodeRequest
from ui.record import record_run
from ui.serving.model_host import ModelHost
from ui.shared.prompts import Preset, read_prompts
from ui.shared.tree_request import TreeRequest

PROMPTS = ASSETS / "opening_prompts.json"
REPEATED = 0.25  # a text with at least this share of repeated 8-grams counts as a loop


@dataclass(frozen=True)
class Candidate:
    """A prompt and its runs, in order of increasing speed-up. All runs emit the same text."""

    name: str
    runs: tuple[Run, ...]

    @property
    def speedup(self) -> float:
        """The median speed-up of the runs."""
        return statistics.median(map(speedup_of, self.runs))

    @property
    def run(self) -> Run:
        """The run whose speed-up is nearest the median."""
        return min(self.runs, key=lambda run: abs(speedup_of(run) - self.speedup))

    @property
    def has_side_child(self) -> bool:
        return any(map(accepts_side_child, self.run.steps))

    @property
    def is_loop(self) -> bool:
        """Whether the text repeats itself so much that it is hard to read."""
        return repetition(emitted_tokens(self.run.steps)) >= REPEATED


def speedup_of(run: Run) -> float:
    """The time of plain decoding per token, divided by that of the run."""
    tokens = sum(len(step.emitted) for step in run.steps)
    return run.meta["plain_seconds"] * tokens / sum(step.total_seconds for step in run.steps)


def accepts_side_child(step: StepTrace) -> bool:
    """Whether a step accepted a side child: a node that is not the first child of its parent."""
    return any(step.tree.ranks[node] > 0 for node in step.verdict.path[1:])


def chosen(candidates: Sequence[Candidate]) -> Candidate:
    """Of the candidates that accept a side child and whose text is not a loop, the one whose
    speed-up is nearest the median of all candidates. Raises SequoiaError if there is none."""
    median = statistics.median(one.speedup for one in candidates)
    branching = [one for one in candidates if one.has_side_child]
    if not branching:
        raise SequoiaError("every run accepted only first children; try more --nodes")
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


def record_all(
    prompts: Sequence[Preset], asked: DecodeRequest, rounds: int, model_host: ModelHost
) -> list[Candidate]:
    """Run every prompt once in each of `rounds` rounds, after a round that warms up."""
    runs: dict[str, list[Run]] = {prompt.name: [] for prompt in prompts}
    for number in range(rounds + 1):
        for prompt in prompts:
            run = record_run(replace(asked, prompt=prompt.text), model_host)
            if number:  # the first round warms up
                runs[prompt.name].append(run)
    return [Candidate(name, tuple(sorted(made, key=speedup_of))) for name, made in runs.items()]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m ui.record_opening", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("--tokens", type=int, default=64, help="tokens per run (default: 64)")
    parser.add_argument("--rounds", type=int, default=5, help="runs per prompt (default: 5)")
    parser.add_argument("--nodes", type=int, default=16, help="nodes of the tree (default: 16)")
    parser.add_argument("--levels", type=int, default=6, help="max levels of the tree (default: 6)")
    parser.add_argument("--out", type=Path, default=recordings.RUNS, help="folder for welcome.json")
    asked = parser.parse_args()
    params = SamplingParams(temperature=0.0, max_new_tokens=asked.tokens, seed=0)
    tree_request = TreeRequest("best", (asked.nodes, asked.levels))
    model_host = ModelHost(load_pair, 1)
    model_host.open()
    request = DecodeRequest(" ", params, tree_request)
    candidates = record_all(read_prompts(PROMPTS), request, asked.rounds, model_host)
    best = chosen(candidates)
    meta = opening_meta(candidates)
    run = replace(best.run, meta={**best.run.meta, "opening": meta})
    path = asked.out / f"{recordings.WELCOME}.json"
    write_text(path, run.to_json())
    for one in sorted(candidates, key=lambda one: one.speedup):
        facts = ["side child"] * one.has_side_child + ["loop"] * one.is_loop
        facts += ["<- chosen"] * (one is best)
        print(f"{one.name:18} {one.speedup:5.2f}x  {', '.join(facts)}")
    low, high = meta["range"]
    print(f"median {meta['median']:.2f}x, middle 80% {low:.2f}x to {high:.2f}x -> {path}")


if __name__ == "__main__":
    try:
        main()
    except SequoiaError as problem:
        sys.exit(str(problem))
