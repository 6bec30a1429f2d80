"""An acceptance vector adjusted to the measured tokens per step of a tree."""

import pytest

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.expected_tokens import expected_tokens, fitted
from sequoia.algorithm.tree import Tree

RATES = Acceptance((0.7, 0.1, 0.05, 0.03, 0.02))
FULL = Acceptance((0.8, 0.15, 0.05))  # cannot be scaled up: the sum is 1
TREE = Tree.from_branching([4, 2, 2, 1])


@pytest.mark.parametrize("rates", [RATES, FULL, Acceptance((0.1, 0.3)), Acceptance((0.0,))])
@pytest.mark.parametrize("tokens", [1.0, 1.3, 2.5, 3.4, 4.7])
def test_the_fitted_vector_predicts_the_measured_tokens(rates: Acceptance, tokens: float) -> None:
    if rates.rates == (0.0,):
        tokens = max(tokens, 1.1)
    found = fitted(rates, TREE, tokens)
    assert expected_tokens(TREE, found) == pytest.approx(tokens, rel=1e-9)
    assert found.is_monotone


def test_a_vector_that_predicts_the_tokens_is_not_changed() -> None:
    assert fitted(RATES, TREE, expected_tokens(TREE, RATES)).rates == pytest.approx(
        RATES.rates, abs=1e-9
    )


def test_unreachable_tokens_per_step_give_rates_of_0_or_of_a_perfect_draft() -> None:
    assert fitted(RATES, TREE, 99.0).rates == pytest.approx((1, 0, 0, 0, 0))
    assert sum(fitted(RATES, TREE, 0.5).rates) == pytest.approx(0)
