"""The check of greedy runs finds a bug in wrong decoders, for bfloat16 targets. With a router,
where rounding may be the reason, it calls them undecided."""

from __future__ import annotations

import itertools

import pytest
from decoded import emitted
from nightly_cases import nightly
from toy_pairs import toy_pair
from wrong_decoders import MUTANTS

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import TextMatch, check_text
from sequoia.models.tree_forward import Context

TREE = Tree.from_branching([3, 2, 2, 1])
PROMPTS = ("def add(a, b):", "Hello, wörld! 你")
GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)
DENSE = ("llama", "qwen3", "starcoder2")
ROUTED = ("mixtral", "qwen3_moe", "granitemoe")


def caught(mutant: str, kind: str, runs: int, monkeypatch: pytest.MonkeyPatch) -> list[TextMatch]:
    """The verdicts on `runs` runs of a mutant."""
    pairs = [toy_pair(kind, seed) for seed in range(-(-runs // len(PROMPTS)))]
    monkeypatch.setattr(Context, mutant.split()[0], MUTANTS[mutant])
    found = []
    for pair, prompt in itertools.islice(itertools.product(pairs, PROMPTS), runs):
        tokens = emitted(run(Decoder(pair, prompt, GREEDY, TREE)))
        expected = emitted(plain(pair, prompt, GREEDY))
        found.append(check_text(pair, prompt, tokens, expected))
    return found


@pytest.mark.parametrize(
    ("kind", "runs"),
    [(DENSE[0], 1), (ROUTED[0], 1), *nightly(*((kind, 4) for kind in (*DENSE, *ROUTED)))],
)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_no_run_of_a_wrong_decoder_passes(
    mutant: str, kind: str, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = "undecided" if kind in ROUTED else "bug"
    assert [one.verdict for one in caught(mutant, kind, runs, monkeypatch)] == [expected] * runs
