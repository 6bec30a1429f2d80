"""The acceptance vector that an experiment plans trees with. It is recorded with the pair, or
measured on planning texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, RULES
from sequoia.experiments.texts import planning_texts
from sequoia.measuring.acceptance_teacher_forced import text_places
from sequoia.models.pair import Pair

PROMPTS = 8  # number of planning texts
TOKENS = 64  # length of each planning text
RANKS = 32  # number of siblings whose acceptance is measured
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
    ranks = min(RANKS, pair.draft.vocab)
    found: dict[str, list[list[float]]] = {rule.key: [] for rule in _RULES}
    for text in planning_texts(pair, kind, replace(params, max_new_tokens=TOKENS, seed=0), PROMPTS):
        chance = chance_for(params.temperature, text.params.seed, pair.draft.device)
        for place in text_places(pair, text.prompt, text.tokens, text.params):
            for rule in _RULES:
                assert rule.chances is not None
                (siblings,) = rule.draw(chance, place.q_row, [ranks])
                chances = rule.chances(place.p, place.q, siblings)
                found[rule.key].append([*map(float, chances)])
    return {name: _mean(rows) for name, rows in found.items()}


def _mean(rows: list[list[float]]) -> Acceptance:
    rates = np.mean(rows, axis=0)
    return Acceptance(tuple((rates / max(1.0, rates.sum())).tolist())).smoothed()
