"""Greedy text of a real model: in float32 it equals that of `generate()`; in bfloat16 and float16
it equals that of plain decoding or differs from it at a tie."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from decoded import emitted
from real_pair import PROMPTS, hundred_prompts, real_pair
from transformers import AutoModelForCausalLM

from sequoia import Pair, SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import TextMatch, check_text

pytestmark = [pytest.mark.real, pytest.mark.nightly]

GREEDY = SamplingParams(max_new_tokens=32)
TREES = {
    "chain": Tree.chain(5),
    "bushy": Tree.from_branching([3, 2, 1, 1]),
    "ragged": Tree.from_parents([-1, 0, 0, 0, 0, 1, 1, 2, 5, 5, 8]),
}


@pytest.fixture(scope="module")
def expected(real_model: Path, real_draft: Path) -> list[list[int]]:
    """The text that `generate()` alone makes after each of PROMPTS, up to our stop tokens."""
    model = AutoModelForCausalLM.from_pretrained(real_model, dtype=torch.float32)
    return [
        _generated(model, real_pair(real_model, real_draft, "float32", chat), prompt)
        for prompt, chat in PROMPTS
    ]


def _generated(model: Any, pair: Pair, prompt: str) -> list[int]:
    ids = torch.tensor([pair.encode(prompt)])
    found = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        max_new_tokens=GREEDY.max_new_tokens,
        eos_token_id=sorted(pair.stop),
        pad_token_id=0,
    )
    return found[0, ids.shape[1] :].tolist()


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_greedy_text_in_float32_is_that_of_generate(
    verifier: str, tree: str, real_model: Path, real_draft: Path, expected: list[list[int]]
) -> None:
    steps = 0
    for (prompt, chat), text in zip(PROMPTS, expected, strict=True):
        pair = real_pair(real_model, real_draft, "float32", chat)
        traces = [*run(Decoder(pair, prompt, GREEDY, TREES[tree], verifier))]
        assert emitted(traces) == text
        steps += len(traces)
    assert steps < 0.8 * sum(map(len, expected))  # else the accepted paths are hardly tested


def checked(pair: Pair, prompt: str, tree: Tree) -> TextMatch:
    """The verdict on a run of the tree, compared with plain decoding in the same dtype."""
    found = emitted(run(Decoder(pair, prompt, GREEDY, tree)))
    return check_text(pair, prompt, found, emitted(plain(pair, prompt, GREEDY)))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_hundred_greedy_texts_are_exact_or_ties(
    dtype: str, real_model: Path, real_draft: Path
) -> None:
    """Prints how many are exact, ties and bugs: pytest -m real -s -k hundred"""
    verdicts = Counter[str]()
    for prompt, chat in hundred_prompts():
        pair = real_pair(real_model, real_draft, dtype, chat)
        match = checked(pair, prompt, TREES["bushy"])
        verdicts[match.verdict] += 1
        if match.verdict != "exact":
            print(f"\n{dtype}, {prompt[:30]!r}{' as a chat' * chat}: {match}")
    print(f"\n{dtype}: {dict(verdicts)}")
    assert verdicts["exact"] + verdicts["tie"] == 100
    assert verdicts["exact"] >= 50
