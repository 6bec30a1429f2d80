"""A model with huge activations is loaded in every dtype, with its faster forward, and its greedy
text is plain decoding's or differs from it at a tie."""

from __future__ import annotations

import copy

import pytest
import torch
from decoded import emitted
from fakes import PROMPTS
from huge_activations import SIZE, TOKENS, huge_model, huge_pair

from sequoia import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import check_text
from sequoia.models.compare_logits import own_logits_from, wider
from sequoia.models.tree_forward import TreeModel

GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)
TREE = Tree.from_branching([3, 2, 1])
TEXT = [(7 * i + i // 3) % 288 for i in range(64)]


def test_rounding_changes_the_logits_by_their_spread_at_the_huge_tokens_only() -> None:
    model = huge_model()
    states = model(torch.tensor([TEXT]), output_hidden_states=True).hidden_states
    half = TreeModel(copy.deepcopy(model).to(torch.bfloat16), "half")
    rounded, exact = (own_logits_from(one, TEXT, 0, len(TEXT)) for one in (half, wider(half)))
    changes = (rounded - exact).abs().amax(1) / exact.std(1)
    is_huge = torch.tensor([token in TOKENS for token in TEXT])
    assert is_huge.sum() >= 4
    assert states[1][0, is_huge].abs().amax(1).min() > 0.9 * SIZE
    assert states[1][0, ~is_huge].abs().max() < 100
    assert changes[is_huge].min() > 0.5
    assert changes[~is_huge].median() < 0.1


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_its_greedy_text_is_exact_or_differs_at_a_tie(dtype: str) -> None:
    pair = huge_pair(dtype)
    assert pair.target.no_fast_forward == ""
    for prompt in PROMPTS:
        found = emitted(run(Decoder(pair, prompt, GREEDY, TREE)))
        match = check_text(pair, prompt, found, emitted(plain(pair, prompt, GREEDY)), TREE)
        assert match.verdict in ("exact", "tie"), match
