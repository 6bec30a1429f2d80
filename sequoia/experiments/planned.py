"""The acceptance vector that an experiment plans trees with. It is recorded with the pair, or
measured on planning texts: continuations of prompts that are used only for planning."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, RULES
from sequoia.experiments.continuations import continuation
from sequoia.experiments.prompts import planning_prompts
from sequoia.measuring.text_places import text_places
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

PROMPTS = 8  # number of planning texts
TOKENS = 64  # length of each planning text
RANKS = 32  # number of siblings whose acceptance is measured
_RULES = tuple(rule for rule in RULES if rule.chances)
_Vectors = dict[str, Acceptance]  # by verifier
_Key = tuple[str, float, float]  # kind, temperature, top-p
# draft -> its vectors. The draft is enough to identify a pair, because each pair of an experiment
# has a different draft. An entry lives as long as its draft.
_KNOWN: WeakKeyDictionary[TreeModel, dict[_Key, _Vectors]] = WeakKeyDictionary()


def planning_vector(
    pair: Pair, kind: str, params: SamplingParams, verifier: str = DEFAULT_VERIFIER
) -> Acceptance:
    """The smoothed (non-increasing) acceptance vector for one kind of text. verifier: one with
    `chances` (see `Verifier`); at temperature 0 any, because all share one vector. A vector that is
    not recorded is measured, which takes a few seconds for a small pair. Measured vectors are
    reused while the draft is in memory."""
    verifier = verifier if params.temperature else DEFAULT_VERIFIER
    if recorded := _recorded(pair, kind, params, verifier):
        return recorded
    found = _KNOWN.setdefault(pair.draft, {})
    key = (kind, params.temperature, params.top_p)
    if key not in found:
        found[key] = _measured(pair, kind, params)
    return found[key][verifier]


def _recorded(pair: Pair, kind: str, params: SamplingParams, verifier: str) -> Acceptance | None:
    if verifier != DEFAULT_VERIFIER or params.top_p < 1:
        return None
    same = (one for one in pair.known if (one.kind, one.temperature) == (kind, params.temperature))
    return next((one.acceptance.smoothed() for one in same), None)


def _measured(pair: Pair, kind: str, params: SamplingParams) -> _Vectors:
    """For each verifier in _RULES, the probability that child 0, 1, ... of a node is accepted,
    averaged over the positions of the planning texts, and smoothed."""
    ranks = min(RANKS, pair.draft.vocab)
    found: dict[str, list[list[float]]] = {rule.key: [] for rule in _RULES}
    for number, prompt in enumerate(planning_prompts(kind)[:PROMPTS]):
        mine = SamplingParams(params.temperature, params.top_p, TOKENS, number, ignore_eos=True)
        chance = chance_for(mine.temperature, mine.seed, pair.draft.device)
        text = continuation(pair, prompt, mine)
        for place in text_places(pair, pair.encode(prompt), text, mine):
            for rule in _RULES:
                assert rule.chances is not None
                (siblings,) = rule.draw(chance, place.q_row, [ranks])
                chances = rule.chances(place.p, place.q, siblings)
                found[rule.key].append([*map(float, chances)])
    return {name: _mean(rows) for name, rows in found.items()}


def _mean(rows: list[list[float]]) -> Acceptance:
    rates = np.mean(rows, axis=0)
    return Acceptance(tuple((rates / max(1.0, rates.sum())).tolist())).smoothed()
