"""The draft for SmolLM2-135M-Instruct that comes with the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoded import emitted
from real_pair import PROMPTS

from sequoia import SamplingParams, load_pair
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import check_text
from sequoia.loading.pair_request import preset
from sequoia.measuring.acceptance_teacher_forced import agreement

pytestmark = [pytest.mark.real, pytest.mark.nightly]

GREEDY = SamplingParams(max_new_tokens=24)
TREE = Tree((-1, 0, 0, 1, 1, 3))
DRAFT = preset("smollm2-135m").draft.ref


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_text_is_the_targets(dtype: str, real_model: Path) -> None:
    pair = load_pair(target=str(real_model), draft=DRAFT, dtype=dtype, device="cpu")
    for prompt, _ in PROMPTS[:3]:
        steps = [*run(Decoder(pair, prompt, GREEDY, TREE))]
        match = check_text(pair, prompt, emitted(steps), emitted(plain(pair, prompt, GREEDY)))
        assert match.verdict in (("exact",) if dtype == "float32" else ("exact", "tie"))


def test_the_draft_shares_a_good_part_of_the_targets_distribution(real_model: Path) -> None:
    pair = load_pair(target=str(real_model), draft=DRAFT, device="cpu")
    assert agreement(pair, [prompt for prompt, _ in PROMPTS]) > 0.25
