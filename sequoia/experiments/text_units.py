"""Units of work, one for each text. Each text is the target's continuation of a prompt, at one
temperature and top-p."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.experiments.continuations import continuation
from sequoia.experiments.experiment import Done, Unit
from sequoia.experiments.prompts import prompts_of
from sequoia.experiments.result import Settings
from sequoia.measuring.expected_steps import FixedLane, expected_step_starts
from sequoia.models.pair import Pair

# Above temperature 0, the tokens per step leave out up to this many tokens at the start of a text.
# The first step always starts at token 0, so the chance that a step starts at one of the next few
# tokens is not typical.
WARM_UP = 16
REPEAT = 8  # a text repeats itself if a sequence of this many tokens occurs again


@dataclass(frozen=True)
class Case:
    """A kind of prompt with sampling settings. varies_top_p: whether the experiment compares
    several values of top-p."""

    kind: str
    temperature: float
    top_p: float = 1.0
    varies_top_p: bool = field(default=False, compare=False)

    @property
    def words(self) -> str:
        cut = f", top-p {self.top_p:g}" if self.varies_top_p or self.top_p < 1 else ""
        return f"{self.kind}, temperature {self.temperature:g}{cut}"


def cases(settings: Settings) -> list[Case]:
    """All combinations of the settings' kinds, temperatures and top-p values."""
    top_ps = settings.get("top_ps", [1.0])
    varied = product(settings["kinds"], settings["temperatures"], top_ps)
    return [Case(*one, varies_top_p=len(top_ps) > 1) for one in varied]


def text_units(settings: Settings) -> list[Unit]:
    """A unit for each prompt of each case: the first prompt of every case, then the second of every
    case, and so on."""
    return [
        Unit(_key(case, number), {**settings, "case": case.__dict__, "number": number})
        for number in range(settings["prompts"])
        for case in cases(settings)
    ]


# Results of several units: of one case, in the order of prompts; or of one prompt, in the order of
# cases.
Found = list[Mapping[str, Any]]


def found_by_case(settings: Settings, done: Done) -> dict[Case, Found]:
    """The results of each case's finished units. A case without finished units is left out."""
    by_case = {
        case: [done[key] for key in _keys(settings, case) if key in done]
        for case in cases(settings)
    }
    return {case: found for case, found in by_case.items() if found}


def values(found: Found, name: str) -> list[float]:
    """The number called `name` from each result."""
    return [one[name] for one in found]


def found_by_prompt(settings: Settings, done: Done, some: Sequence[Case]) -> list[Found]:
    """For each prompt, the results of its units in those cases of `some` that have the prompt's
    kind. A prompt is left out if any of these units is not done."""
    found = list[Found]()
    for kind in dict.fromkeys(case.kind for case in some):
        for number in range(settings["prompts"]):
            keys = [_key(case, number) for case in some if case.kind == kind]
            if all(key in done for key in keys):
                found.append([done[key] for key in keys])
    return found


def case_of(unit: Unit) -> Case:
    return Case(**unit.work["case"])


def params_of(unit: Unit) -> SamplingParams:
    """The sampling parameters of a unit's text. The seed is the number of the prompt."""
    case = case_of(unit)
    number = unit.work["number"]
    tokens = unit.work["tokens"]
    return SamplingParams(case.temperature, case.top_p, tokens, number, ignore_eos=True)


def prompt_of(unit: Unit) -> str:
    return prompts_of(case_of(unit).kind)[unit.work["number"]]


@dataclass(frozen=True)
class Text:
    """A text on which decoders are compared. prompt, tokens: the token ids of the prompt and of its
    continuation, which was sampled with `params`."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    params: SamplingParams


def text_of_unit(pair: Pair, unit: Unit) -> Text:
    params = params_of(unit)
    prompt = prompt_of(unit)
    return Text(pair.encode(prompt), continuation(pair, prompt, params), params)


def step_starts_along(
    pair: Pair, text: Text, lanes: Mapping[str, tuple[Tree, str]]
) -> dict[str, Sequence[float]]:
    """For each lane (a tree and a verifier), the probability that a step starts at each token of
    `text.tokens`."""
    fixed = [FixedLane(tree, verifier) for tree, verifier in lanes.values()]
    found = expected_step_starts(pair, text.prompt, text.tokens, text.params, fixed)
    return {name: starts.tolist() for name, starts in zip(lanes, found, strict=True)}


def tokens_per_step(starts: Sequence[float], params: SamplingParams) -> float:
    """The number of tokens after the warm-up, divided by the expected number of steps that start at
    them. The warm-up is the first WARM_UP tokens, but at most a quarter of the text. At temperature
    0 all tokens are counted, because there may be no step that starts after the warm-up."""
    first = min(WARM_UP, len(starts) // 4) if params.temperature else 0
    return round((len(starts) - first) / sum(starts[first:]), 5)


def new_tokens(text: Text) -> int:
    """The number of tokens in the continuation before it begins to repeat itself or the prompt. The
    repetition begins at the first sequence of REPEAT tokens that has occurred before. Only
    sequences that begin after the continuation's first token count, so the number is at least 1."""
    ids = (*text.prompt, *text.tokens)
    seen = set[tuple[int, ...]]()
    for end in range(REPEAT, len(ids) + 1):
        run = ids[end - REPEAT : end]
        if run in seen and end > len(text.prompt) + REPEAT:
            return end - REPEAT - len(text.prompt)
        seen.add(run)
    return len(text.tokens)


def tokens_per_step_along(
    pair: Pair, unit: Unit, lanes: Mapping[str, tuple[Tree, str]]
) -> dict[str, float]:
    """The expected tokens per step of each lane (a tree and a verifier) along a unit's text."""
    text = text_of_unit(pair, unit)
    starts = step_starts_along(pair, text, lanes)
    return {name: tokens_per_step(one, text.params) for name, one in starts.items()}


def _keys(settings: Settings, case: Case) -> list[str]:
    return [_key(case, number) for number in range(settings["prompts"])]


def _key(case: Case, number: int) -> str:
    return f"{case.words}, prompt {number + 1}"
