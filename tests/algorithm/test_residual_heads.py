"""A residual head has the p and q of a few tokens at one trial of a walk. Those of the tried token
must be the numbers that the walk compared. The last head must have the p that the walk drew the
last token from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from exact import EXACT, Drawn, Enumerator, drafted, production_models, table

from sequoia.algorithm.residual_heads import LEAST, MOST, ResidualHead, residual_heads
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Trial, Verdict, Verifier

FROM_THE_ROOT = [name for name, verifier in EXACT.items() if verifier.chances]
TREES = (
    Tree.chain(4),
    Tree((-1, 0, 0, 0)),
    Tree((-1, 0, 0, 1, 1, 2, 2)),
    Tree.from_branching([6, 2]),
)


def walked(
    tree: Tree, verifier: Verifier, p: Any, q: Any, seed: int
) -> tuple[Verdict, tuple[ResidualHead, ...], Any]:
    """The verdict of a walk, its residual heads, and the distribution of its last token."""
    chance = Drawn(seed)
    tokens, contexts = drafted(tree, verifier, q, (), chance)

    def p_of(node: int) -> np.ndarray:
        return p(contexts[node])

    def q_of(node: int) -> np.ndarray:
        return q(contexts[node])

    verdict = verifier.verify(tree, tokens, p_of, q_of, chance)
    return verdict, residual_heads(tree, verdict, p_of, q_of, verifier.reject), chance.last


@pytest.mark.parametrize("name", FROM_THE_ROOT)
@pytest.mark.parametrize("is_exact", [True, False])
def test_heads_have_the_numbers_of_the_walk(name: str, is_exact: bool) -> None:
    verifier = EXACT[name]
    rejected = 0
    for seed in range(60):
        p, q = (
            (table((seed, "p"), 8), table((seed, "q"), 8))
            if is_exact
            else production_models(seed, 8, temperature=0.8)
        )
        tree = TREES[seed % len(TREES)]
        verdict, heads, last = walked(tree, verifier, p, q, seed)
        assert len(heads) == len(verdict.trials) + 1
        for trial, head in zip(verdict.trials, heads, strict=False):
            rejected += not trial.accepted
            assert (head.tokens[0], head.p[0]) == (trial.token, trial.p)
            assert head.q[0] == (trial.q if verifier.reject else pytest.approx(trial.q))
        assert (heads[-1].tokens[0], heads[-1].q) == (verdict.bonus, ())
        assert heads[-1].p[0] == last[verdict.bonus]
    assert rejected > 10


def test_a_head_has_the_most_probable_tokens_of_p_or_q() -> None:
    """The head of a trial starts with the tried token. Then come the tokens with the largest
    max(p, q). The last head starts with the token that the target adds. Then come the most probable
    tokens of p."""
    p = np.array([0.5, 0.25, 0.1, 0.0, 0.12, 0.004, 0.003, 0.023])
    q = np.array([0.1, 0.28, 0.05, 0.52, 0.03, 0.01, 0.004, 0.006])
    trial = Trial(1, 6, 0.003, 0.004, None, False)
    verdict = Verdict((0,), 0, (trial,))
    head, last = residual_heads(Tree.chain(2), verdict, lambda _node: p, lambda _node: q, None)
    assert head.tokens == (6, 3, 0, 1, 4, 2)
    assert len(head.tokens) == MOST
    assert last.tokens == (0, 1, 4, 2, 7)
    assert min(last.p) >= LEAST


def test_a_rejection_subtracts_q_from_p_and_drops_the_token_from_q() -> None:
    verifier = EXACT["sequoia"]
    p = np.array([0.2, 0.5, 0.3])
    q = np.array([0.6, 0.2, 0.2])

    class Never(Enumerator):
        def accept(self, d: Any, r: Any) -> tuple[bool, float]:
            return False, 0.999

    tree = Tree((-1, 0, 0))
    verdict = verifier.verify(tree, [9, 0, 1], lambda _node: p, lambda _node: q, Never())
    heads = residual_heads(tree, verdict, lambda _node: p, lambda _node: q, verifier.reject)
    assert heads[0].tokens[0] == 0
    second = dict(zip(heads[1].tokens, zip(heads[1].p, heads[1].q, strict=True), strict=True))
    assert second[1] == pytest.approx((0.75, 0.5))
    assert second[2] == pytest.approx((0.25, 0.5))
    assert 0 not in second
    assert dict(zip(heads[2].tokens, heads[2].p, strict=True)) == pytest.approx({1: 1.0})
