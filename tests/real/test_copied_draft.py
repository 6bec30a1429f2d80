"""Copies of a real model in int8 and int4 as its draft."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoded import emitted
from real_pair import PROMPTS

from sequoia import SamplingParams, load_pair
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import check_text
from sequoia.measuring.acceptance_teacher_forced import agreement

pytestmark = [pytest.mark.real, pytest.mark.nightly]

GREEDY = SamplingParams(max_new_tokens=24)
TREE = Tree.chain(4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize(("numbers", "overlap"), [("int8", 0.9), ("int4", 0.75)])
def test_a_copy_is_a_good_draft_and_the_text_is_the_targets(
    numbers: str, overlap: float, dtype: str, real_model: Path
) -> None:
    pair = load_pair(target=str(real_model), draft=numbers, dtype=dtype, device="cpu")
    for prompt, _ in PROMPTS[:2]:
        steps = [*run(Decoder(pair, prompt, GREEDY, TREE))]
        text = emitted(plain(pair, prompt, GREEDY))
        match = check_text(pair, prompt, emitted(steps), text)
        assert match.verdict in (("exact",) if dtype == "float32" else ("exact", "tie"))
        assert len(steps) < 0.7 * len(text)
    assert agreement(pair, [prompt for prompt, _ in PROMPTS[:4]]) > overlap
