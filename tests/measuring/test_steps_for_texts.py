"""The expected number of steps in which a lane (a tree and a verifier) decodes a text, with tiny
models. On average, it equals the number of steps that decoding takes."""

from __future__ import annotations

import statistics
from dataclasses import replace

import pytest
from fakes import tiny_pair
from nightly_cases import nightly

from sequoia import Pair, SamplingParams, Tree, speculate
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.measuring.steps_for_texts import (
    LEAST_TOKENS,
    expected_step_starts,
    expected_steps,
    fixed_lane,
)

PROMPT = "def add(a, b):\n    return"
TREE = Tree((-1, 0, 0, 0, 1, 1, 4))


@pytest.fixture(scope="module")
def pair() -> Pair:
    return tiny_pair()


@pytest.mark.parametrize("verifier", ["sequoia", *nightly("specinfer", "topk")])
def test_expected_steps_are_the_mean_of_the_real_steps(pair: Pair, verifier: str) -> None:
    """The real steps equal the expected ones on average, and with topk in every run."""
    base = SamplingParams(temperature=0.9, max_new_tokens=32, ignore_eos=True)
    beyond = []
    for seed in range(20):
        params = replace(base, seed=seed)
        steps = [*speculate(pair, PROMPT, params, tree=TREE, verifier=verifier)]
        (starts,) = expected_step_starts(
            pair, pair.encode(PROMPT), emitted_tokens(steps), params, [(TREE, verifier)]
        )
        beyond.append(len(steps) - starts.sum())
    if verifier == "topk":  # the text decides which children are accepted
        assert beyond == [0] * len(beyond)
        return
    spread = statistics.stdev(map(float, beyond))
    assert spread > 0.2  # the differences vary, so a mean near 0 is not trivial
    assert abs(statistics.fmean(beyond)) < 3.5 * spread / len(beyond) ** 0.5


def test_short_texts_and_lanes_that_change_their_trees_are_left_out(pair: Pair) -> None:
    params = SamplingParams(temperature=0.9)
    prompt = pair.encode(PROMPT)
    text = emitted_tokens(speculate(pair, PROMPT, replace(params, max_new_tokens=48), tree=TREE))
    lanes = [fixed_lane(TREE, "sequoia"), fixed_lane(object(), "sequoia")]
    assert lanes[1] is None
    assert fixed_lane(TREE, "traversal") is None
    long, short = text[:LEAST_TOKENS], text[: LEAST_TOKENS - 1]
    found, other = expected_steps(pair, prompt, [long, short], params, lanes)
    assert other is None
    assert found.tokens == (LEAST_TOKENS,)
    assert expected_steps(pair, prompt, [short], params, lanes) == (None, None)


def test_equal_texts_count_once(pair: Pair) -> None:
    params = SamplingParams(temperature=0.9, max_new_tokens=LEAST_TOKENS)
    text = emitted_tokens(speculate(pair, PROMPT, replace(params, ignore_eos=True), tree=TREE))
    (found,) = expected_steps(
        pair, pair.encode(PROMPT), [text, list(text)], params, [fixed_lane(TREE, "sequoia")]
    )
    assert found.tokens == (LEAST_TOKENS,)
