"""A model with huge activations is loaded in every dtype, with its faster forward, and its greedy
text is plain decoding's or differs from it at a tie."""

from __future__ import annotations

import pytest
from decoded import emitted
from fakes import PROMPTS
from huge_activations import huge_pair

from sequoia import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import check_text

GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)
TREE = Tree.from_branching([3, 2, 1])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_its_greedy_text_is_exact_or_differs_at_a_tie(dtype: str) -> None:
    pair = huge_pair(dtype)
    assert pair.target.no_fast_forward == ""
    for prompt in PROMPTS:
        found = emitted(run(Decoder(pair, prompt, GREEDY, TREE)))
        match = check_text(pair, prompt, found, emitted(plain(pair, prompt, GREEDY)))
        assert match.verdict in ("exact", "tie"), match
