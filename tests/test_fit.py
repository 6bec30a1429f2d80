"""A vector fitted to what a tree made."""

import pytest

from sequoia.acceptance import Acceptance
from sequoia.fit import fitted
from sequoia.planner import expected_tokens
from sequoia.tree import Tree

RATES = Acceptance((0.7, 0.1, 0.05, 0.03, 0.02))
TREE = Tree.from_branching([4, 2, 2, 1])


@pytest.mark.parametrize("tokens", [1.0, 1.3, 2.5, 3.4])
def test_the_fitted_vector_makes_the_measured_tokens(tokens: float) -> None:
    assert expected_tokens(TREE, fitted(RATES, TREE, tokens)) == pytest.approx(tokens, rel=1e-9)
    rising = Acceptance((0.1, 0.3))
    assert fitted(rising, TREE, tokens).is_monotone


def test_a_vector_that_cannot_make_the_tokens_comes_as_near_as_it_gets() -> None:
    assert sum(fitted(RATES, TREE, 99.0).rates) == pytest.approx(1)
    assert fitted(Acceptance((0.0,)), TREE, 2.0).rates == (0.0,)
