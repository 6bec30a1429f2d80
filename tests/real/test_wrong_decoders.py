"""The check of greedy text finds a bug in wrong decoders of a real model, whose rounding errors in
16 bits are large."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoded import emitted
from real_pair import TEXTS, real_pair
from wrong_decoders import MUTANTS

from sequoia import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import check_text
from sequoia.models.tree_forward import Context

pytestmark = [pytest.mark.real, pytest.mark.nightly]

GREEDY = SamplingParams(max_new_tokens=48, ignore_eos=True)
TREE = Tree.from_branching([3, 2, 1, 1])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_decoder_is_called_a_bug(
    mutant: str, dtype: str, real_model: Path, real_draft: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one of four texts at least: a wrong position changes the logits of this model less than
    rounding to bfloat16 does, so a single text may be a tie."""
    pair = real_pair(real_model, real_draft, dtype)
    monkeypatch.setattr(Context, mutant.split()[0], MUTANTS[mutant])
    verdicts = []
    for prompt in TEXTS:
        found = emitted(run(Decoder(pair, prompt, GREEDY, TREE)))
        match = check_text(pair, prompt, found, emitted(plain(pair, prompt, GREEDY)))
        verdicts.append(match.verdict)
        if match.verdict == "bug":
            break
    print(f"\n{mutant}, {dtype}: {verdicts}")
    assert verdicts[-1] == "bug"
