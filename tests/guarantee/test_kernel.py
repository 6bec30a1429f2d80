"""The kernel that verifies a tree on a GPU, compared with the reference walk on the same random
numbers, and runs whose steps it verifies.

Without a GPU, Triton's interpreter runs the kernel on the CPU. The tests marked `gpu` run it
compiled.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
import torch
from nightly_cases import nightly

pytest.importorskip("triton", reason="there is no Triton for this system")

from doors import (
    PROMPTS,
    Case,
    Tree,
    Walked,
    bare_logits,
    blocks_of,
    cases_of_the_check,
    decode,
    decode_plain,
    fit,
    is_verified_by_kernel,
    placed_pair,
    random_case,
    seeded,
    verify_on_device,
    walked_by_kernel,
    walked_by_reference,
)

TREES = [
    Tree.chain(1),
    Tree.chain(5),
    Tree((-1, 0, 0, 0, 1, 1, 2, 4, 4)),
    Tree.sequences(3, 2),
    Tree.kary(2, 4),
]


def same(found: Walked, expected: Walked) -> None:
    """Node, bonus token and number of trials are equal, and so is each trial up to rounding."""
    assert (*found[:2], len(found[2])) == (*expected[:2], len(expected[2]))
    for (child, p, q, u, accepted, mass), trial in zip(found[2], expected[2], strict=True):
        assert (child, u, bool(accepted)) == (trial[0], trial[3], trial[4])
        assert (p, q) == (pytest.approx(trial[1], abs=1e-12), pytest.approx(trial[2], abs=1e-12))
        assert accepted or mass == pytest.approx(trial[5], abs=1e-12)


def compare(seed: int, replacing: bool, vocabulary: int | None = None) -> None:
    """Compare the kernel with the reference on each tree of TREES. Some entries of the
    distributions are zero, so a drafted token may have no mass under q."""
    rng = np.random.default_rng(seed)
    for tree in TREES:
        vocab = vocabulary or int(rng.integers(4, 30))
        case = random_case(rng, tree, vocab, replacing)
        same(walked_by_kernel(case, replacing), walked_by_reference(case, replacing))


@pytest.mark.parametrize("replacing", [False, True], ids=["distinct", "independent"])
@pytest.mark.parametrize("vocab", [1, 2, 3, 7, 8])
def test_there_are_cases_for_a_tiny_vocabulary(vocab: int, replacing: bool) -> None:
    """Guards against cases with more distinct siblings than the vocabulary has tokens."""
    for case in cases_of_the_check(vocab, replacing):
        for children in case.tree.children:
            tokens = [case.tokens[child] for child in children]
            assert replacing or len(set(tokens)) == len(tokens)


@pytest.mark.parametrize("replacing", [False, True], ids=["distinct", "independent"])
@pytest.mark.parametrize("seed", range(25))
def test_the_kernel_walks_as_the_reference_does(seed: int, replacing: bool) -> None:
    compare(seed, replacing)


@pytest.mark.gpu
@pytest.mark.parametrize("replacing", [False, True], ids=["distinct", "independent"])
@pytest.mark.parametrize("vocab", [None, 200, 4096, 4097, 151_936])
def test_the_kernel_walks_as_the_reference_does_on_a_gpu(
    vocab: int | None, replacing: bool
) -> None:
    for seed in range(5):
        compare(seed, replacing, vocab)


def test_a_draft_without_mass_left_draws_other_tokens_uniformly() -> None:
    case = Case(
        Tree.from_branching([3]),
        [0, 0, 1, 2],
        np.array([[0.0, 0.0, 0.5, 0.5]] * 4),
        np.array([[1.0, 0, 0, 0]], dtype=np.float32),
        np.array([0.5, 0.9, 0.9, 0.3]),
    )
    expected = walked_by_reference(case, False)
    assert [trial[2] for trial in expected[2]] == [1, pytest.approx(1 / 3), pytest.approx(1 / 2)]
    same(walked_by_kernel(case, False), expected)


@pytest.mark.parametrize("u", [0.0, 1 - 2**-53])
def test_the_ends_of_u_pick_tokens_with_weight(u: float) -> None:
    """Even the smallest and the largest random number must not pick a token of weight 0."""
    p = np.array([[0.0, 0.3, 0.0, 0.7, 0.0]])
    case = Case(Tree.chain(1), [0], p, p[:0].astype(np.float32), np.array([u]))
    _, bonus, _ = walked_by_kernel(case, False)
    assert bonus == (1 if u == 0 else 3)


def test_a_vocabulary_of_several_blocks_is_walked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks_of(monkeypatch, 8)
    compare(77, replacing=False)


# -- runs ------------------------------------------------------------------------------------------


@pytest.fixture
def on_device(monkeypatch: pytest.MonkeyPatch) -> None:
    verify_on_device(monkeypatch)


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("verifier", ["sequoia", "specinfer"])
@pytest.mark.parametrize("tree", TREES)
def test_greedy_text_is_that_of_plain_decoding(
    tree: Tree, verifier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = placed_pair()
    assert is_verified_by_kernel(pair, tree, verifier)
    found = [*chain(*decode(pair, PROMPTS[0], tree, verifier, tokens=40))]
    monkeypatch.undo()
    assert found == decode_plain(pair, PROMPTS[0], tokens=40)


@pytest.mark.usefixtures("on_device")
@pytest.mark.parametrize("verifier", ["sequoia", *nightly("specinfer")])
def test_the_first_token_follows_the_target(verifier: str) -> None:
    """A chi-square test over seeds, of the target's five likeliest tokens and all others together.
    It fails by chance with probability 1e-6."""
    assert _first_tokens(verifier, 200) > 1e-6


@pytest.mark.gpu
@pytest.mark.parametrize("verifier", ["sequoia", "specinfer"])
def test_the_first_token_follows_the_target_on_a_gpu(verifier: str) -> None:
    assert _first_tokens(verifier, 500) > 1e-6


@pytest.mark.gpu
def test_the_draws_on_a_gpu_follow_the_draft() -> None:
    """Ordered pairs drawn without replacement are compared with their exact probabilities, then
    single tokens drawn with replacement."""
    q = torch.tensor([0.4, 0.3, 0.2, 0.1, 0.0], device="cuda")
    expected = {
        (one, other): float(q[one] * q[other] / (1 - q[one]))
        for one in range(4)
        for other in range(4)
        if one != other
    }
    drawn = seeded(1, "cuda").successive(q.expand(20_000, -1), 2).tolist()
    assert fit([*map(tuple, drawn)], expected) > 1e-6
    alone = seeded(2, "cuda").repeated(q.expand(20_000, -1), 1)[:, 0].tolist()
    assert fit(alone, {token: float(q[token]) for token in range(4)}) > 1e-6


def _first_tokens(verifier: str, seeds: int) -> float:
    """The p-value of the first tokens of `seeds` runs."""
    pair = placed_pair()
    distribution = (bare_logits(pair.target, pair.encode(PROMPTS[0]))[-1] / 0.7).softmax(-1)
    best = distribution.topk(5).indices.tolist()
    expected = {
        **{token: float(distribution[token]) for token in best},
        "other": 1 - float(distribution[best].sum()),
    }
    seen = []
    for seed in range(seeds):
        params = {"temperature": 0.7, "seed": seed, "tokens": 2}
        steps = decode(pair, PROMPTS[0], Tree.from_branching([2]), verifier, **params)
        token = next(steps)[0]
        seen.append(token if token in best else "other")
    return fit(seen, expected)


@pytest.mark.gpu
def test_a_greedy_run_stays_on_the_gpu_and_emits_the_text_of_plain_decoding() -> None:
    pair = placed_pair()
    for tree in TREES:
        assert is_verified_by_kernel(pair, tree, "sequoia")
        found = [*chain(*decode(pair, PROMPTS[0], tree, tokens=40))]
        assert found == decode_plain(pair, PROMPTS[0], tokens=40)
