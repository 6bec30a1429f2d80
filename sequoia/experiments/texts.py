"""The texts of the experiments: the target's continuations of prompts. Measurements use the prompts
in assets/judge, on which no bundled model was trained, and those of the benchmark. Trees are
planned on continuations of other prompts, those of the acceptance survey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, RULES
from sequoia.assets_folder import ASSETS
from sequoia.bench.command import text_list
from sequoia.decoding.engine import plain
from sequoia.experiments.experiment import Unit
from sequoia.measuring.acceptance_teacher_forced import text_places
from sequoia.measuring.steps_for_texts import FixedLane, expected_step_starts
from sequoia.models.pair import Pair
from sequoia.text_files import load_json

KINDS = ("code", "prose")
# Above temperature 0, the tokens per step leave out up to this many tokens at the start of a text.
# The first step always starts at token 0, so the chance that a step starts at one of the next few
# tokens is not typical.
WARM_UP = 16
REPEAT = 8  # a text repeats itself if a sequence of this many tokens occurs again


@cache
def prompts_of(kind: str) -> tuple[str, ...]:
    """The prompts to measure with, excerpts first. kind: one of KINDS."""
    excerpts = load_json(ASSETS / "judge" / f"{kind}.json")
    return (*(one["prompt"] for one in excerpts), *text_list(kind, ASSETS / "bench"))


@cache
def planning_prompts(kind: str) -> tuple[str, ...]:
    """The prompts to plan trees on. kind: one of KINDS."""
    return tuple(text_list(kind, ASSETS / "survey"))


@dataclass(frozen=True)
class Text:
    """A text on which decoders are compared. prompt, tokens: the token ids of the prompt and of its
    continuation, which was sampled with `params`."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    params: SamplingParams

    @property
    def warm_up(self) -> int:
        """The tokens at the start that are not measured: WARM_UP, but at most a quarter of the
        text. None at temperature 0, where it may be that no step starts after the warm-up."""
        return min(WARM_UP, len(self.tokens) // 4) if self.params.temperature else 0


def continued(pair: Pair, prompt: str, params: SamplingParams) -> Text:
    """`prompt` and what plain decoding with the target emits after it."""
    return Text(pair.encode(prompt), tuple(emitted_tokens(plain(pair, prompt, params))), params)


def text_of(pair: Pair, unit: Unit) -> Text:
    return continued(pair, prompts_of(unit.kind)[unit.number], unit.params)


def planning_texts(pair: Pair, kind: str, params: SamplingParams, count: int) -> Iterator[Text]:
    """The first `count` planning texts, each with a seed of its own."""
    for number, prompt in enumerate(planning_prompts(kind)[:count]):
        yield continued(pair, prompt, params.further(number))


def step_starts(
    pair: Pair, text: Text, lanes: Mapping[str, FixedLane]
) -> dict[str, Sequence[float]]:
    """For each lane (a tree and a verifier), the probability that a step starts at each token of
    `text.tokens`."""
    found = expected_step_starts(pair, text.prompt, text.tokens, text.params, [*lanes.values()])
    return {name: starts.tolist() for name, starts in zip(lanes, found, strict=True)}


def tokens_per_step(starts: Sequence[float], text: Text) -> float:
    """The number of tokens after the warm-up, divided by the expected number of steps that start at
    them."""
    first = text.warm_up
    return round((len(starts) - first) / sum(starts[first:]), 5)


def tokens_of_lanes(pair: Pair, text: Text, lanes: Mapping[str, FixedLane]) -> dict[str, float]:
    """The expected tokens per step of each lane (a tree and a verifier) along `text`."""
    starts = step_starts(pair, text, lanes)
    return {name: tokens_per_step(one, text) for name, one in starts.items()}


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


# -- the acceptance vector to plan with ------------------------------------------------------------


PLANNING_PROMPTS = 8  # number of planning texts
PLANNING_TOKENS = 64  # length of each planning text
PLANNING_RANKS = 32  # number of siblings whose acceptance is measured
_RULES = tuple(rule for rule in RULES if rule.chances)


def planning_vector(
    pair: Pair, kind: str, params: SamplingParams, verifier: str = DEFAULT_VERIFIER
) -> Acceptance:
    """The smoothed (non-increasing) acceptance vector for one kind of text. verifier: one with
    `chances` (see `Verifier`); at temperature 0 any, because all share one vector. A vector that is
    not recorded is measured once for each pair, which takes a few seconds for a small pair."""
    verifier = verifier if params.temperature else DEFAULT_VERIFIER
    if recorded := _recorded(pair, kind, params, verifier):
        return recorded
    key = ("planning vectors", kind, params.temperature, params.top_p)
    return pair.measured.once(key, lambda: _measured(pair, kind, params))[verifier]


def _recorded(pair: Pair, kind: str, params: SamplingParams, verifier: str) -> Acceptance | None:
    if verifier != DEFAULT_VERIFIER or params.top_p < 1:
        return None
    same = (one for one in pair.known if (one.kind, one.temperature) == (kind, params.temperature))
    return next((one.acceptance.smoothed() for one in same), None)


def _measured(pair: Pair, kind: str, params: SamplingParams) -> dict[str, Acceptance]:
    """For each verifier in _RULES, the probability that child 0, 1, ... of a node is accepted,
    averaged over the positions of the planning texts, and smoothed."""
    ranks = min(PLANNING_RANKS, pair.draft.vocab)
    found: dict[str, list[NDArray[np.float64]]] = {rule.key: [] for rule in _RULES}
    params = replace(params, max_new_tokens=PLANNING_TOKENS, seed=0)
    for text in planning_texts(pair, kind, params, PLANNING_PROMPTS):
        chance = chance_for(params.temperature, text.params.seed, pair.draft.device)
        for place in text_places(pair, text.prompt, text.tokens, text.params):
            for rule in _RULES:
                found[rule.key].append(place.chances(rule, ranks, chance))
    return {name: _mean(rows) for name, rows in found.items()}


def _mean(rows: Sequence[NDArray[np.float64]]) -> Acceptance:
    rates = np.mean(rows, axis=0)
    return Acceptance(tuple((rates / max(1.0, rates.sum())).tolist())).smoothed()
