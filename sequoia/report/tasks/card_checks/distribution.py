"""First tokens of many seeded steps against the target's distribution, for the verifiers whose walk
is a kernel on the card."""

from __future__ import annotations

from collections import deque

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.exactness.same_distribution import FirstTokens, find_position, first_tokens
from sequoia.loading.load import load_pair
from sequoia.models.pair import Pair
from sequoia.report.tasks.found import Found

_CASES = ((0.6, 1.0), (1.0, 1.0), (0.6, 0.9))  # temperature, top-p
_VERIFIERS = ("sequoia", "specinfer")
_TREE = Tree((-1, 0, 0, 0, 1, 1, 2, 4))
_PROMPT = "def mean(values):\n    "


def distribution(draws: str) -> Found:
    """Each verifier at each temperature and top-p, with so many draws."""
    pair = load_pair(online=False)
    figures = {
        f"{verifier}, T = {params.temperature:g}, top-p {params.top_p:g}": _counted(
            pair, params, verifier, int(draws)
        )
        for verifier in _VERIFIERS
        for params in (SamplingParams(temperature=one, top_p=p, seed=7) for one, p in _CASES)
    }
    worst = min(figures, key=lambda name: _p_value(figures[name]))
    words = f"{len(figures)} tests of {draws} draws; the worst is {worst}: p = "
    return Found(
        f"{words}{_p_value(figures[worst]):.2g}",
        {name: _p_value(one) for name, one in figures.items()},
        all(one.verdict != "differs" for one in figures.values()),
    )


def _counted(pair: Pair, params: SamplingParams, verifier: str, draws: int) -> FirstTokens:
    position = find_position(pair, _PROMPT, (), params)
    counted = first_tokens(
        pair, _PROMPT, params, _TREE, verifier, draws=draws, batch=draws, position=position
    )
    return deque(counted, maxlen=1)[0]


def _p_value(found: FirstTokens) -> float:
    return 1.0 if found.p_value is None else found.p_value
