"""Chains that stop after an unsure token, one with a draft probability below `min_prob`: where
they end, and that they decode correctly."""

from __future__ import annotations

import math

import pytest
import torch
from decoded import emitted
from fakes import PROMPTS, same_pair, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.errors import BadModel, BadTree
from sequoia.measuring.stopping_chain import ChainWhileSure, StoppingChain
from sequoia.models.tree_forward import TreeModel

GREEDY = SamplingParams(max_new_tokens=24, ignore_eos=True)
ROW = torch.tensor([[0.7, 0.2, 0.1]])


def drafted(max_nodes: int, min_prob: float, tokens: list[int]) -> int:
    """The number of nodes of a chain that draws `tokens` in turn until it stops."""
    chain = ChainWhileSure(max_nodes, min_prob)
    draws = iter(tokens)
    while chain.front:
        assert chain.grow(ROW) == (1,)
        chain.see(ROW, [[next(draws)]])
    return len(chain.tree)


def test_the_first_unsure_token_is_the_last_of_the_chain() -> None:
    assert drafted(6, 0.5, [0, 0, 1, 0, 0]) == 4
    assert drafted(6, 0.5, [2]) == 2
    assert drafted(6, 0.0, [1, 2, 1, 2, 1]) == 6
    assert drafted(3, 0.5, [0, 0]) == 3
    assert drafted(1, 0.5, []) == 1


@pytest.mark.parametrize(
    ("max_nodes", "min_prob", "message"),
    [(0, 0.5, "max_nodes: 0"), (4, 1.5, "min_prob: 1.5"), (4, float("nan"), "min_prob: nan")],
)
def test_bad_bounds_are_refused(max_nodes: int, min_prob: float, message: str) -> None:
    with pytest.raises(BadTree, match=message):
        StoppingChain(max_nodes, min_prob)


@pytest.mark.parametrize("verifier", ["sequoia", "traversal"])
def test_greedy_text_is_that_of_plain_decoding(verifier: str) -> None:
    pair = tiny_pair()
    decoder = Decoder(pair, PROMPTS[0], GREEDY, StoppingChain(6, 0.3), verifier)
    steps = [*run(decoder)]
    assert emitted(steps) == emitted(plain(pair, PROMPTS[0], GREEDY))
    assert len({step.tree for step in steps[:-2]}) > 1
    for step in steps[:-2]:
        *before, last = step.draft_p[1:]
        assert step.tree == Tree.chain(len(step.tree))
        assert all(q is not None and q >= 0.3 for q in before)
        assert len(step.tree) == 6 or (last is not None and last < 0.3)


def test_a_perfect_draft_is_accepted_to_the_end_of_the_chain() -> None:
    decoder = Decoder(same_pair(), PROMPTS[0], GREEDY, StoppingChain(4, 0.3))
    for step in run(decoder):
        if step.finish is None:
            assert not step.tree.children[step.verdict.path[-1]]


@pytest.mark.parametrize("passes", [1, 2])
def test_a_draft_that_overflows_while_the_chain_grows_ends_the_run(passes: int) -> None:
    """The chain's length must not follow from NaN, and none of its tokens may be verified by it."""
    decoder = Decoder(tiny_pair(), PROMPTS[0], GREEDY, StoppingChain(4, 0.0))
    decoder.prefill()
    model = decoder.contexts[1].model
    assert isinstance(model, TreeModel)
    numbers = iter([1.0] * (passes - 1) + [math.nan] * 3)
    forward = model.forward
    model.forward = lambda *given: forward(*given) * next(numbers)
    with pytest.raises(BadModel, match="the draft's logits contain NaN"):
        decoder.step()
