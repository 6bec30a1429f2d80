"""A run's further runs: their state, as the page shows it, and their prompts and seeds.

The prompts are the run's own, and prompts of the same kind of text (code or prose) that are
shipped with the program. Shipped texts on which the bundled pair's acceptance was counted are left
out, because trees are planned from that acceptance. Independent of Gradio and of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

from sequoia import SamplingParams
from sequoia.assets_folder import ASSETS
from sequoia.diagnosis.verdict import RaceVerdict
from sequoia.models.pair import CHAT
from sequoia.saved_files.race_file import MOST_RUNS, LaneLog, PooledRun, RaceLog
from sequoia.text_files import load_json
from ui.run.report import ran_to_end, sampling_of, step_of
from ui.run.request import RunRequest
from ui.shared.prompts import (
    CHAT_FILE,
    OPENING_FILE,
    presets,
    prompt_kind,
    read_prompts,
    surveyed_texts,
)

USUAL_MORE = 5  # how many further runs to make if the verdict needs no more
_LONGEST_PROMPT = 60
_SHORT = 18  # characters shown of each prompt if a line shows two


class RunShown(TypedDict):
    """prompt: the beginning of the prompt, or of both prompts. seconds: per token, one value for
    each lane, None for a lane without steps."""

    prompt: str
    seed: int | None
    seconds: list[float | None]


class PoolShown(TypedDict):
    """runs: the run itself is the first. more: how many further runs "Make more runs" would make,
    0 if none are possible. more_seconds: how long they are expected to take. most: the most runs
    that a run may have. kind: the kind of the further prompts: "code", "prose" or "chat". With two
    prompts, both kinds in their order, such as "code and prose". Empty if further runs keep the
    prompts. seeds: whether each run has a new seed. planned: while further runs are being made, how
    many runs there will be in the end; otherwise None."""

    runs: list[RunShown]
    more: int
    more_seconds: float
    most: int
    kind: str
    seeds: bool
    planned: int | None


def pool_state(log: RaceLog, verdict: RaceVerdict, request: RunRequest | None) -> dict[str, Any]:
    """The state, without `planned` and `more_seconds`. request: None if from a file."""
    prompt = str(log.meta.get("prompt"))
    settings = sampling_of(log.meta)
    second = str(log.meta.get("second_prompt", ""))
    first = _row(
        prompt, second, settings.get("seed"), [_seconds_per_token(lane) for lane in log.lanes]
    )
    chat = log.meta.get("chat") is True
    further = (
        next_runs(log, verdict, request) if request and verdict.pairs and ran_to_end(log) else []
    )
    return {
        "runs": [first, *map(_further_row, log.pool.runs if log.pool else ())],
        "more": len(further),
        "most": MOST_RUNS,
        "kind": _kind(prompt, second, chat),
        "seeds": settings.get("temperature") != 0,
    }


def next_runs(log: RaceLog, verdict: RaceVerdict, request: RunRequest) -> list[FurtherRun]:
    """The further runs that "Make more runs" would make."""
    made = len(log.pool.runs) if log.pool else 0
    most = how_many_more(verdict, MOST_RUNS - 1 - made)
    return further_runs(request.prompts, request.params, made, most, log.meta.get("chat") is True)


def _kind(prompt: str, second: str, chat: bool) -> str:
    kinds = [_kind_of(text, chat) for text in (prompt, second) if text]
    return "" if len(kinds) > len(set(kinds)) else " and ".join(kinds)


def _kind_of(prompt: str, chat: bool) -> str:
    return CHAT if chat else prompt_kind(prompt)


def how_many_more(verdict: RaceVerdict, room: int) -> int:
    """How many further runs to make, at most `room`: as many as separate the two fastest lanes on
    each prompt, if that is from 1 to `room`; otherwise USUAL_MORE."""
    more = verdict.more_races
    return more if more and more <= room else min(USUAL_MORE, room)


def _further_row(run: PooledRun) -> RunShown:
    times = [sum(seconds for _, seconds in lane.steps) for lane in run.lanes]
    seconds = [time / len(lane.tokens) for time, lane in zip(times, run.lanes, strict=True)]
    return _row(run.prompt, run.second_prompt, run.seed, seconds)


def _row(prompt: str, second: str, seed: int | None, seconds: Sequence[float | None]) -> RunShown:
    start = prompt.strip()[:_LONGEST_PROMPT]
    if second:
        start = " / ".join(_short(text.strip()) for text in (prompt, second))
    return {"prompt": start, "seed": seed, "seconds": [*seconds]}


def _short(text: str) -> str:
    start = text.split("\n")[0][:_SHORT]
    return start if start == text else f"{start}…"


def _seconds_per_token(lane: LaneLog) -> float | None:
    """Seconds per token of a lane in the run itself; None if it made no step."""
    steps = [step_of(step) for step in lane.run.steps]
    tokens = sum(tokens for tokens, _ in steps)
    return sum(seconds for _, seconds in steps) / tokens if tokens else None


# -- the inputs of further runs --------------------------------------------------------------------


@cache
def prompts_of(kind: str) -> tuple[str, ...]:
    """The opening prompts, presets and benchmark prompts of a kind of text, in a fixed order and
    without those on which acceptance was counted. For "chat", the example messages."""
    if kind == CHAT:
        return tuple(one.text for one in read_prompts(CHAT_FILE))
    named = [*read_prompts(OPENING_FILE), *presets()]
    texts = [preset.text for preset in named if prompt_kind(preset.text) == kind]
    every = dict.fromkeys([*texts, *load_json(ASSETS / "bench" / f"{kind}.json")])
    return tuple(text for text in every if text.strip() not in surveyed_texts(kind))


@dataclass(frozen=True)
class FurtherRun:
    """The inputs of one further run. second_prompt: empty in a run of one prompt."""

    prompt: str
    params: SamplingParams
    second_prompt: str = ""


def further_runs(
    prompts: Sequence[str], params: SamplingParams, made: int, most: int, chat: bool = False
) -> list[FurtherRun]:
    """At most `most` further runs of a run on one or two `prompts`. made: how many further runs
    it already has. chat: whether the prompts were chat messages.

    Above temperature 0 every run has a new seed, so prompts are used again once all have been used.
    At temperature 0 a new seed changes nothing, so each prompt is used once. If a run has two
    prompts of the same kind of text, its further runs use the same two: nothing says which other
    pairs differ in the same way. Such a run has no further runs at temperature 0.
    """
    kinds = [_kind_of(prompt, chat) for prompt in prompts]
    if len(prompts) == 2 and kinds[0] == kinds[1]:
        seeds = range(made + 1, made + most + 1) if params.temperature else ()
        return [FurtherRun(prompts[0], params.further(number), prompts[1]) for number in seeds]
    first, *second = [
        _further_prompts(prompt, kind, params, made, most)
        for prompt, kind in zip(prompts, kinds, strict=True)
    ]
    if not second:
        return [FurtherRun(prompt, params) for prompt, params in first]
    return [
        FurtherRun(prompt, params, other)
        for (prompt, params), (other, _) in zip(first, second[0], strict=False)
    ]


def _further_prompts(
    prompt: str, kind: str, params: SamplingParams, made: int, most: int
) -> list[tuple[str, SamplingParams]]:
    """For each further run, the prompt to use for `prompt`, which is of `kind`, and the run's
    parameters."""
    others = [text for text in prompts_of(kind) if text != prompt]
    if params.temperature == 0:
        return [(text, params) for text in others[made : made + most]]
    return [
        (_turn(others, prompt, number), params.further(number))
        for number in range(made + 1, made + most + 1)
    ]


def _turn(others: Sequence[str], prompt: str, number: int) -> str:
    """The prompt of run `number`. Run 0 is the run itself, which had `prompt`."""
    turns = [prompt, *others]
    return turns[number % len(turns)]
