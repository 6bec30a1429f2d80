"""Tree decoding in bfloat16 compared with plain decoding, for random models of many types. The
decoder is correct: texts differ only because of rounding. So check_text must never call a
difference a bug.

    pytest -m nightly -s tests/exactness/test_right_decoders.py    all types, with counts
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from decoded import emitted
from nightly_cases import nightly
from toy_pairs import toy_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.exactness.same_tokens import TextMatch, check_text
from sequoia.loading.model_families import known_types
from sequoia.models.pair import Pair
from sequoia.models.self_test import has_router

TREE = Tree.from_branching([3, 2, 2, 1])
PROMPTS = ("def add(a, b):", "Hello, wörld! 你", "x")
GREEDY = SamplingParams(max_new_tokens=40, ignore_eos=True)
RUNNING = tuple(one.name for one in known_types().types if one.result in ("runs", "partly"))
SOME = ("llama", "gemma2", "granitemoe")
NO_BUG = ("exact", "tie", "undecided")


def verdicts(kind: str, seeds: Sequence[int]) -> Counter[str]:
    """How often tree decoding with models of `kind` got each verdict."""
    found = Counter[str]()
    for seed in seeds:
        pair = toy_pair(kind, seed)
        for prompt in PROMPTS:
            tokens = emitted(run(Decoder(pair, prompt, GREEDY, TREE)))
            expected = emitted(plain(pair, prompt, GREEDY))
            match = check_text(pair, prompt, tokens, expected)
            _must_be_right(pair, match)
            found[match.verdict] += 1
    return found


def _must_be_right(pair: Pair, match: TextMatch) -> None:
    assert match.verdict != "bug", match
    if match.verdict == "undecided":
        assert has_router(pair.target), match


@pytest.mark.parametrize(
    ("kind", "seeds"), [*((kind, 1) for kind in SOME), *nightly(*((kind, 2) for kind in RUNNING))]
)
def test_right_decoders_are_not_called_a_bug(kind: str, seeds: int) -> None:
    found = verdicts(kind, range(seeds))
    print(f"\n{kind}: {dict(found)}")
    assert sum(found[verdict] for verdict in NO_BUG) == seeds * len(PROMPTS)
