"""The run that the page opens with: `python -m ui.record opening`.

Every prompt of a fixed list is decoded several times, each time with a tree and beside it without a
draft. The speed-up of a prompt is the median over its runs. The page opens with a run of the prompt
whose speed-up is nearest the median of all prompts. Some prompts count for the median but are never
chosen: those whose text repeats itself, those whose runs accept only first children, and, for
models that answer chat messages, those whose answer has no end within the run. The run is written
with the speed-ups of all prompts.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sequoia import SamplingParams, SequoiaError
from sequoia.algorithm.step_trace import StepTrace, emitted_tokens, repetition
from sequoia.loading.pair_request import BUNDLED_NAME
from sequoia.saved_files.race_file import RaceLog
from sequoia.text_files import write_text
from ui.record.runs import record, repeated, request_of, speedup_of
from ui.run import recordings
from ui.serving.model_host import ModelHost
from ui.shared.prompts import CHAT_FILE, OPENING_FILE, read_prompts

REPEATED = 0.3  # a text with more than this share of repeated 4-grams counts as a loop
_GRAM = 4


@dataclass(frozen=True)
class Candidate:
    """A prompt and its runs, in order of increasing speed-up. All runs emit the same text. stop:
    the tokens that end a text; empty if it need not end."""

    name: str
    runs: tuple[RaceLog, ...]
    stop: frozenset[int] = frozenset()

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
        return repetition(self._tokens, _GRAM) > REPEATED

    @property
    def has_end(self) -> bool:
        """Whether the text ends by itself, if it must."""
        return not self.stop or self._tokens[-1] in self.stop

    @property
    def facts(self) -> list[str]:
        """What decides whether it may be chosen, in words."""
        facts = ["side child"] * self.has_side_child + ["loop"] * self.is_loop
        return facts + ["has an end"] * (self.has_end and bool(self.stop))

    @property
    def _tokens(self) -> list[int]:
        return emitted_tokens(self.run.lanes[0].run.steps)


def accepts_side_child(step: StepTrace) -> bool:
    """Whether a step accepted a side child: a node that is not the first child of its parent."""
    return any(step.tree.ranks[node] > 0 for node in step.verdict.path[1:])


def chosen(candidates: Sequence[Candidate]) -> Candidate:
    """Of the candidates that accept a side child and whose text has an end and is not a loop, the
    one whose speed-up is nearest the median of all candidates. Raises SequoiaError if there is
    none."""
    median = statistics.median(one.speedup for one in candidates)
    branching = [one for one in candidates if one.has_side_child]
    if not branching:
        raise SequoiaError("every run accepted only first children; try more tokens")
    readable = [one for one in branching if one.has_end and not one.is_loop]
    if not readable:
        raise SequoiaError(
            "in every run that accepted a side child, the text repeats itself or has no end; try "
            "another number of tokens"
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


def record_opening(
    host: ModelHost, name: str, params: SamplingParams, rounds: int, folder: Path
) -> None:
    """Write the run of the film of the pair called `name`, which `host` serves, to `folder`, and
    print the speed-up of every prompt. rounds: runs per prompt."""
    candidates = _candidates(host, params, rounds)
    for one in sorted(candidates, key=lambda one: one.speedup):
        print(f"{one.name:18} {one.speedup:5.2f}x  {', '.join(one.facts)}")
    ends = sum(one.has_end for one in candidates if one.stop)
    loops = sum(one.is_loop for one in candidates)
    print(f"of {len(candidates)} texts, {ends} have an end and {loops} are loops")
    meta = opening_meta(candidates)
    low, high = meta["range"]
    print(f"median {meta['median']:.2f}x, middle 80% {low:.2f}x to {high:.2f}x")
    best = chosen(candidates)
    own = f"-{host.draft}" if name != BUNDLED_NAME else ""
    path = folder / f"{recordings.WELCOME}{own}.json"
    shown = {**best.run.meta, **_titles(name, len(candidates)), "opening": meta}
    write_text(path, replace(best.run, meta=shown).to_json())
    print(f"chosen: {best.name} -> {path}")


def _titles(name: str, prompts: int) -> dict[str, str]:
    pair = f" of {name}" if name != BUNDLED_NAME else ""
    return {
        "title": f"The run of the film{pair}",
        "about": f"Near the median of {prompts} prompts.",
    }


def _candidates(host: ModelHost, params: SamplingParams, rounds: int) -> list[Candidate]:
    pair = host.pair(lambda: False)
    prompts = read_prompts(CHAT_FILE if pair.template else OPENING_FILE)
    stop = pair.as_chat().stop if pair.template else frozenset[int]()
    requests = {one.name: request_of(one.text, params) for one in prompts}
    makes = {
        name: lambda request=request: record(request, host) for name, request in requests.items()
    }
    runs = repeated(makes, rounds)
    return [
        Candidate(name, tuple(sorted(made, key=speedup_of)), stop) for name, made in runs.items()
    ]
