"""Prompts and seeds for a race's further runs. The prompts are the race's own, and prompts of the
same kind of text (code or prose) that are shipped with the program. Shipped texts on which the
bundled pair's acceptance was counted are left out, because trees are planned from that
acceptance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from sequoia import SamplingParams
from sequoia.assets_folder import ASSETS
from sequoia.text_files import load_json
from ui.shared.prompts import presets, read_prompts, surveyed_texts

CODE = "code"
PROSE = "prose"
_SURELY_CODE = re.compile(
    r"""^\s*(?:
        (?:async\s+)?def\s+\w+\( | class\s+\w+\s*[:({] | import\s+[\w.]+\s*(?:$|as\b|;)
        | from\s+[\w.]+\s+import\b | function\b.*\( | (?:const|let|var)\s+\w+\s*=
        | \#include\b | @\w+ | // | /\* | \"{3} | SELECT\b )""",
    re.VERBOSE,
)
_LIKE_CODE = re.compile(
    r"""^\s*[\w.\[\]"']+\s*(?:=|:=|\+=|->)\s*\S
        | [;{}]\s*$
        | ^\s*[\w.]+\(.*\)\s*:?$
        | ^\s*["'\w]+\s*:\s*\S.*,$""",
    re.VERBOSE,
)


def prompt_kind(text: str) -> str:
    """CODE or PROSE. A text is code if any line is surely code, or if at least a third of its
    lines look like code. Blank lines do not count."""
    lines = [line for line in text.splitlines() if line.strip()]
    if any(map(_SURELY_CODE.match, lines)):
        return CODE
    alike = sum(bool(_LIKE_CODE.search(line)) for line in lines)
    return CODE if alike and 3 * alike >= len(lines) else PROSE


@cache
def prompts_of(kind: str) -> tuple[str, ...]:
    """The opening prompts, presets and benchmark prompts of a kind of text, in a fixed order and
    without those on which acceptance was counted."""
    named = [*read_prompts(ASSETS / "opening_prompts.json"), *presets()]
    texts = [preset.text for preset in named if prompt_kind(preset.text) == kind]
    every = dict.fromkeys([*texts, *load_json(ASSETS / "bench" / f"{kind}.json")])
    return tuple(text for text in every if text.strip() not in surveyed_texts(kind))


@dataclass(frozen=True)
class FurtherRun:
    """The inputs of one further run. second_prompt: empty in a race of one prompt."""

    prompt: str
    params: SamplingParams
    second_prompt: str = ""


def further_runs(
    prompts: Sequence[str], params: SamplingParams, made: int, most: int
) -> list[FurtherRun]:
    """At most `most` further runs of a race on one or two `prompts`. made: how many further runs
    it already has.

    Above temperature 0 every run has a new seed, so prompts are used again once all have been used.
    At temperature 0 a new seed changes nothing, so each prompt is used once. If a race has two
    prompts of the same kind of text, its further runs use the same two: nothing says which other
    pairs differ in the same way. Such a race has no further runs at temperature 0.
    """
    if len(prompts) == 2 and prompt_kind(prompts[0]) == prompt_kind(prompts[1]):
        seeds = range(made + 1, made + most + 1) if params.temperature else ()
        return [FurtherRun(prompts[0], params.further(number), prompts[1]) for number in seeds]
    first, *second = [_further_prompts(prompt, params, made, most) for prompt in prompts]
    if not second:
        return [FurtherRun(prompt, params) for prompt, params in first]
    return [
        FurtherRun(prompt, params, other)
        for (prompt, params), (other, _) in zip(first, second[0], strict=False)
    ]


def _further_prompts(
    prompt: str, params: SamplingParams, made: int, most: int
) -> list[tuple[str, SamplingParams]]:
    """For each further run, the prompt to use for `prompt`, and the run's parameters."""
    others = [text for text in prompts_of(prompt_kind(prompt)) if text != prompt]
    if params.temperature == 0:
        return [(text, params) for text in others[made : made + most]]
    return [
        (_turn(others, prompt, number), params.further(number))
        for number in range(made + 1, made + most + 1)
    ]


def _turn(others: Sequence[str], prompt: str, number: int) -> str:
    """The prompt of run `number`. Run 0 is the race itself, which had `prompt`."""
    turns = [prompt, *others]
    return turns[number % len(turns)]
