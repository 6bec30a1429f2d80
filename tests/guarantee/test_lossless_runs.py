"""Whole runs of tiny models of five real classes: at temperature 0 the text is that of the target
alone, above it the texts have the target's distribution.

The seeds are fixed. With fresh seeds, a correct engine would fail one of the four chi-square tests
about once in 250,000 runs.
"""

from __future__ import annotations

from functools import cache
from itertools import chain

import pytest
from doors import (
    KINDS,
    PROMPTS,
    VERIFIERS,
    Pair,
    Tree,
    bare_logits,
    decode,
    decode_plain,
    fit,
    pair,
)
from exact import of_transformers, true_distribution
from nightly_cases import nightly

TREES = {
    "chain": Tree.chain(5),
    "sequences": Tree.sequences(3, 3),
    "bushy": Tree.from_branching([4, 2, 1, 1]),
    "flat": Tree.from_branching([16]),
    "ragged": Tree((-1, 0, 0, 0, 1, 1, 2, 4, 4, 6, 7, 8, 10)),
}


@cache
def plain_text(kind: str, dtype: str, prompt: str) -> list[int]:
    return decode_plain(pair(kind, dtype), prompt)


def text(pair: Pair, prompt: str, tree: Tree, verifier: str = "sequoia") -> list[int]:
    return [*chain(*decode(pair, prompt, tree, verifier))]


# -- temperature 0 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_plain_decoding_takes_the_models_own_best_token(kind: str) -> None:
    """Other tests compare the engine with plain decoding. Both use the same code, so this test
    compares plain decoding with `transformers` alone, without a KV cache."""
    tiny = pair(kind)
    known = list(tiny.encode(PROMPTS[0]))
    for token in plain_text(kind, "float32", PROMPTS[0]):
        assert int(bare_logits(tiny.target, known)[-1].argmax()) == token
        known.append(token)


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
@pytest.mark.parametrize("kind", KINDS)
def test_greedy_text_is_that_of_plain_decoding_in_float32(kind: str, tree: Tree) -> None:
    for prompt in PROMPTS:
        assert text(pair(kind), prompt, tree) == plain_text(kind, "float32", prompt)


@pytest.mark.parametrize("kind", KINDS)
def test_greedy_text_is_that_of_plain_decoding_in_float64(kind: str) -> None:
    for tree in (TREES["ragged"], TREES["bushy"]):
        expected = plain_text(kind, "float64", PROMPTS[0])
        assert text(pair(kind, "float64"), PROMPTS[0], tree) == expected


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_greedy_text_is_that_of_plain_decoding_with_every_verifier(verifier: str) -> None:
    for tree in TREES.values():
        expected = plain_text("llama", "float32", PROMPTS[1])
        assert text(pair(), PROMPTS[1], tree, verifier) == expected


def test_greedy_text_is_that_of_plain_decoding_without_grouped_heads() -> None:
    """Every query head has a KV head of its own; elsewhere two share one."""
    tiny = pair(kv_heads=4)
    assert text(tiny, PROMPTS[0], TREES["ragged"]) == decode_plain(tiny, PROMPTS[0])


# -- above temperature 0 ---------------------------------------------------------------------------


@cache
def small_vocabulary() -> Pair:
    # with this much noise, p and q differ so much that using a wrong one is noticed
    return pair("llama", vocab=5, layers=1, noise=2.0, seed=5)


@pytest.mark.parametrize(
    ("verifier", "temperature", "top_p"),
    [
        *nightly(("sequoia", 1.0, 1.0), ("sequoia", 1.0, 0.8), ("specinfer", 1.0, 1.0)),
        ("sequoia", 0.7, 0.8),
    ],
)
def test_sampled_runs_follow_the_target_distribution(
    verifier: str, temperature: float, top_p: float
) -> None:
    """The joint distribution of three tokens, emitted in one to three steps, in 1,200 runs. Guards
    against logits of the wrong node, q of another node or step, noise used twice, a temperature
    applied twice or not at all, and a prefix with the wrong slots."""
    tiny = small_vocabulary()
    # two nodes of one level have a child: each child must be verified with the q after its parent
    tree = Tree((-1, 0, 0, 1, 2))
    params = {"tokens": 3, "temperature": temperature, "top_p": top_p}
    runs = (decode(tiny, "a", tree, verifier, seed=seed, **params) for seed in range(1200))
    expected = true_distribution(of_transformers(tiny, "a", temperature, top_p), 3)
    assert fit([tuple(chain(*steps)) for steps in runs], expected) > 1e-6
