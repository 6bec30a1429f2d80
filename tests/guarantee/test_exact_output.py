"""Output distributions that are computed, not sampled. The correct decoder has the target's
distribution. For a decoder with a bug, enumeration and the closed form give the same distribution
of the first token. A bug biases the output only where its description says so.
"""

from __future__ import annotations

import pytest
from doors import BUGS, VERIFIERS, Tree, first_token_shares, output_shares, true_shares

TOY = ("0.05 0.15 0.3 0.5", "0.55 0.35 0.06 0.04")  # p and q
EQUAL = ("0.7 0.3", "0.7 0.3")
CHAIN = Tree.chain(2)
WIDE = Tree.from_branching([2])


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("tree", [CHAIN, WIDE, Tree.chain(3)])
def test_the_correct_decoder_has_the_target_distribution(verifier: str, tree: Tree) -> None:
    assert output_shares(TOY, tree, None, 2, verifier) == pytest.approx(
        true_shares(TOY, 2), abs=1e-6
    )


@pytest.mark.parametrize("key", BUGS)
def test_the_first_token_is_the_same_in_closed_form(key: str) -> None:
    """The enumerator runs the code of the bug. The closed form is for vocabularies that are too
    large to enumerate."""
    counted = first_token_shares(TOY, key)
    assert sum(counted) == pytest.approx(1)
    assert output_shares(TOY, CHAIN, key, 1, "sequoia") == pytest.approx(counted, abs=1e-6)


@pytest.mark.parametrize("key", ["draft-noise", "walk-u"])
@pytest.mark.parametrize("verifier", ["sequoia", "specinfer", "traversal"])
def test_reused_noise_shows_in_two_tokens_and_not_in_one(key: str, verifier: str) -> None:
    assert output_shares(TOY, WIDE, key, 1, verifier) == pytest.approx(
        true_shares(TOY, 1), abs=1e-6
    )
    assert abs(output_shares(TOY, WIDE, key, 2, verifier) - true_shares(TOY, 2)).sum() > 0.02


@pytest.mark.parametrize("key", ["dropped", "last-token"])
def test_a_wrong_verifier_shows_in_the_first_token(key: str) -> None:
    assert abs(output_shares(TOY, CHAIN, key, 1, "sequoia") - true_shares(TOY, 1)).sum() > 0.02


@pytest.mark.parametrize("key", ["dropped", "last-token", "draft-noise", "walk-u"])
def test_the_bugs_hide_where_p_equals_q(key: str) -> None:
    """Where p equals q, no token is rejected. No q is below 0.1, so "dropped" drops no child."""
    assert output_shares(EQUAL, CHAIN, key, 2, "sequoia") == pytest.approx(
        true_shares(EQUAL, 2), abs=1e-6
    )


def test_too_many_outcomes_are_not_computed() -> None:
    eighths = " ".join(["1/8"] * 8)
    wide = Tree.from_branching([5])
    assert output_shares((eighths, eighths), wide, "draft-noise", 2, "sequoia") is None
