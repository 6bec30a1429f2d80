"""The acceptance vector that an experiment plans trees with: recorded with the pair, or measured on
texts other than those of the experiment."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, verifier_named
from sequoia.experiments.continuations import continuation
from sequoia.experiments.prompts import planning_prompts
from sequoia.measuring.text_places import text_places
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

PROMPTS = 8
TOKENS = 64
RANKS = 32
_Key = tuple[str, float, float, str]
# by draft, which belongs to one pair
_KNOWN: WeakKeyDictionary[TreeModel, dict[_Key, Acceptance]] = WeakKeyDictionary()


def planning_vector(
    pair: Pair, kind: str, params: SamplingParams, verifier: str = DEFAULT_VERIFIER
) -> Acceptance:
    """The non-increasing acceptance vector for texts of a kind. It is measured at the first call
    (some seconds for a small pair) and kept while the pair is in memory."""
    verifier = verifier if params.temperature else DEFAULT_VERIFIER
    if recorded := _recorded(pair, kind, params, verifier):
        return recorded
    found = _KNOWN.setdefault(pair.draft, {})
    key = (kind, params.temperature, params.top_p, verifier)
    if key not in found:
        found[key] = _measured(pair, kind, params, verifier).smoothed()
    return found[key]


def _recorded(pair: Pair, kind: str, params: SamplingParams, verifier: str) -> Acceptance | None:
    if verifier != DEFAULT_VERIFIER or params.top_p < 1:
        return None
    same = (one for one in pair.known if (one.kind, one.temperature) == (kind, params.temperature))
    return next((one.acceptance.smoothed() for one in same), None)


def _measured(pair: Pair, kind: str, params: SamplingParams, verifier: str) -> Acceptance:
    """The mean over texts of the probability that each child is accepted."""
    rule = verifier_named(verifier)
    ranks = min(RANKS, pair.draft.vocab)
    found = list[list[float]]()
    for number, prompt in enumerate(planning_prompts(kind)[:PROMPTS]):
        mine = SamplingParams(params.temperature, params.top_p, TOKENS, number, ignore_eos=True)
        chance = chance_for(mine.temperature, mine.seed, pair.draft.device)
        text = continuation(pair, prompt, mine)
        for place in text_places(pair, pair.encode(prompt), text, mine):
            assert rule.chances is not None
            (siblings,) = rule.draw(chance, place.q_row, [ranks])
            found.append([*map(float, rule.chances(place.p, place.q, siblings))])
    rates = np.mean(found, axis=0)
    return Acceptance(tuple((rates / max(1.0, rates.sum())).tolist()))
