"""expected_accepted equals the mean number of accepted tokens over all outcomes of verification,
each weighted by its probability."""

from __future__ import annotations

from fractions import Fraction

import pytest
from doors import Tree, expected_accepted
from exact import EXACT, Drawn, Enumerator, distribution, drafted, production_models, table

TREES = (
    Tree.chain(1),
    Tree.chain(4),
    Tree((-1, 0, 0, 0)),
    Tree((-1, 0, 0, 1, 1, 2)),
    Tree((-1, 0, 0, 0, 0, 2, 2, 4, 5)),
)


@pytest.mark.parametrize("name", list(EXACT))
@pytest.mark.parametrize("tree", TREES)
def test_it_is_the_mean_over_all_draws_of_the_verifier(name: str, tree: Tree) -> None:
    verifier = EXACT[name]
    for seed in range(12):
        p, q = table((seed, "p"), 5), table((seed, "q"), 5)
        tokens, contexts = drafted(tree, verifier, q, (), Drawn(seed))
        p_of = lambda node: p(contexts[node])  # noqa: B023, E731
        q_of = lambda node: q(contexts[node])  # noqa: B023, E731

        def accepted(chance: Enumerator) -> int:
            verdict = verifier.verify(tree, tokens, p_of, q_of, chance)  # noqa: B023
            return len(verdict.path) - 1

        mean = sum(length * weight for length, weight in distribution(accepted).items() if length)
        assert expected_accepted(tree, tokens, p_of, q_of, verifier) == mean


@pytest.mark.parametrize("name", list(EXACT))
def test_with_floats_it_is_at_most_the_length_of_the_longest_path(name: str) -> None:
    verifier = EXACT[name]
    tree = TREES[-1]
    for seed in range(6):
        p, q = production_models(seed, 6, temperature=0.8)
        tokens, contexts = drafted(tree, verifier, q, (), Drawn(seed))
        found = expected_accepted(
            tree,
            tokens,
            lambda node: p(contexts[node]),  # noqa: B023
            lambda node: q(contexts[node]),  # noqa: B023
            verifier,
        )
        assert 0 <= found <= tree.levels - 1


def test_a_draft_like_the_target_is_always_accepted() -> None:
    p = table("p", 5)
    tokens, contexts = drafted(Tree.chain(4), EXACT["sequoia"], p, (), Drawn(0))
    of = lambda node: p(contexts[node])  # noqa: E731
    found = expected_accepted(Tree.chain(4), tokens, of, of, EXACT["sequoia"])
    assert found == Fraction(3)
