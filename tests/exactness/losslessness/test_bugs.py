"""The deliberate bugs of the losslessness test: each breaks only what it is meant to break. Only
that test and its tab of the page can use them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from goodness_of_fit import fit
from test_imports import FILES, ROOT, imports

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS, verifier_named
from sequoia.errors import BadSamplingParams
from sequoia.exactness.losslessness.bugs import BUGS, Float16Race, first_drawn
from sequoia.exactness.losslessness.settings import Decoding, bug_named

ROOM = "sequoia.exactness.losslessness"
Q = np.array([0.6, 0.3, 0.0985, 0.0015], dtype=np.float32)


def test_only_the_losslessness_test_and_its_tab_import_the_bugs() -> None:
    users = {
        path.relative_to(ROOT).parts[:3]
        for module, path in FILES.items()
        if f"{ROOM}.bugs" in imports(module)
    }
    assert users == {
        ("sequoia", "exactness", "losslessness"),
        ("ui", "lossless", "messages.py"),
        ("ui", "words", "losslessness.py"),
    }


@pytest.mark.parametrize("key", BUGS)
def test_no_bug_is_a_verifier_of_the_engine(key: str) -> None:
    before = dict(VERIFIERS)
    assert Decoding(Tree.chain(2), "sequoia", BUGS[key]).rule is not VERIFIERS["sequoia"]
    assert before == VERIFIERS
    with pytest.raises(BadSamplingParams, match="unknown verifier"):
        verifier_named(key)


def test_a_bug_that_the_verifier_cannot_have_is_refused() -> None:
    """A verifier can only have a bug in something that it does. Top-k match, for example, draws no
    random number u, so it cannot reuse one. Unknown bugs are refused too."""
    with pytest.raises(BadSamplingParams, match="top-k match cannot have this bug"):
        Decoding(Tree.chain(2), "topk", BUGS["walk-u"])
    for key in ("x", None, 7, []):
        with pytest.raises(BadSamplingParams, match=r"^bug: .* is not one of none, float16"):
            bug_named(key)
    assert bug_named("none") is None


def test_the_race_in_float16_draws_what_was_computed() -> None:
    """Float16Race draws with the probabilities that `first_drawn` computes. The chi-square test has
    a fixed seed. If the probabilities are right, one seed in a million would fail the test."""
    race = Float16Race(3)
    q = torch.tensor(Q)[None]
    drawn = [race.without_replacement(q, [1])[0][0] for _ in range(20_000)]
    assert fit(drawn, dict(enumerate(first_drawn(Q)))) > 1e-6


def test_the_race_in_float16_loses_rare_tokens() -> None:
    odds = first_drawn(np.full(4096, 1 / 4096, dtype=np.float32))
    assert odds.sum() == pytest.approx(1)
    rare = np.array([0.5, *[0.5 / 2000] * 2000], dtype=np.float32)
    assert first_drawn(rare)[1:].sum() < 0.45


@pytest.mark.parametrize(("key", "same"), [("draft-noise", "draft"), ("walk-u", "u")])
def test_just_one_kind_of_noise_is_reused(key: str, same: str) -> None:
    chance_of_step = BUGS[key].seeded(5)
    q = torch.full((1, 50), 1 / 50)
    steps = [chance_of_step() for _ in range(3)]
    drafts = [step.without_replacement(q, [4]) for step in steps]
    us = [step.accept(1, 0.5)[1] for step in steps]
    picks = [step.pick(np.ones(10_000)) for step in steps]
    assert (drafts[0] == drafts[1] == drafts[2]) == (same == "draft")
    assert (us[0] == us[1] == us[2]) == (same == "u")
    assert len(set(picks)) == 3


def test_a_dropped_child_takes_its_descendants_along() -> None:
    """If the root's child has a small q, the whole chain below the root is dropped. The walk then
    sees only the root, and the token is drawn from p."""
    rule = BUGS["dropped"].wrap(VERIFIERS["sequoia"])
    q = np.array([0.95, 0.05])
    p = np.array([0.0, 1.0])
    tree = Tree.chain(3)
    kept = rule.verify(tree, [0, 0, 0], lambda _: p, lambda _: q, Seeded(1))
    assert kept.path == (0,)  # rejected, as p is 0
    dropped = rule.verify(tree, [0, 1, 1], lambda _: p, lambda _: q, Seeded(1))
    assert (dropped.path, dropped.bonus, dropped.trials) == ((0,), 1, ())
    assert VERIFIERS["sequoia"].verify(
        tree, [0, 1, 1], lambda _: p, lambda _: q, Seeded(1)
    ).path == (0, 1, 2)
