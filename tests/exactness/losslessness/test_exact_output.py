"""Output distributions that are computed, not sampled. The correct decoder has the target's
distribution. For a decoder with a bug, enumeration and the closed form give the same distribution
of the first token. A bug biases the output only where its description says so.
"""

from __future__ import annotations

import numpy as np
import pytest

from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.exactness.losslessness.broken import BUGS
from sequoia.exactness.losslessness.cells import Cells
from sequoia.exactness.losslessness.exact_output import first_token, output_shares
from sequoia.exactness.losslessness.sampling import Decoding
from sequoia.exactness.losslessness.toy import Toy

TOY = Toy.parse("0.05 0.15 0.3 0.5", "0.55 0.35 0.06 0.04")
EQUAL = Toy.parse("0.7 0.3", "0.7 0.3")
CHAIN = Tree.chain(2)
WIDE = Tree.from_branching([2])


def shares(toy: Toy, tree: Tree, key: str | None, places: int, verifier: str) -> np.ndarray:
    found = output_shares(
        toy, Decoding(tree, verifier, BUGS[key] if key else None), cells(toy, places)
    )
    assert found is not None
    return np.array(found)


def cells(toy: Toy, places: int) -> Cells:
    return Cells(toy.p, places, toy.vocab)


def exact(toy: Toy, places: int) -> np.ndarray:
    return np.array([cell.share for cell in cells(toy, places).all])


@pytest.mark.parametrize("verifier", VERIFIERS)
@pytest.mark.parametrize("tree", [CHAIN, WIDE, Tree.chain(3)])
def test_the_correct_decoder_has_the_target_distribution(verifier: str, tree: Tree) -> None:
    assert shares(TOY, tree, None, 2, verifier) == pytest.approx(exact(TOY, 2), abs=1e-6)


@pytest.mark.parametrize("key", BUGS)
def test_the_first_token_is_the_same_in_closed_form(key: str) -> None:
    """The enumerator runs the code of the bug. The closed form is for vocabularies that are too
    large to enumerate."""
    found = first_token(TOY, BUGS[key])
    assert found.sum() == pytest.approx(1)
    counted = cells(TOY, 1).shares({(token,): share for token, share in enumerate(found)})
    assert shares(TOY, CHAIN, key, 1, "sequoia") == pytest.approx(counted, abs=1e-6)


@pytest.mark.parametrize("key", ["draft-noise", "walk-u"])
@pytest.mark.parametrize("verifier", ["sequoia", "specinfer", "traversal"])
def test_reused_noise_shows_in_two_tokens_and_not_in_one(key: str, verifier: str) -> None:
    assert shares(TOY, WIDE, key, 1, verifier) == pytest.approx(exact(TOY, 1), abs=1e-6)
    assert abs(shares(TOY, WIDE, key, 2, verifier) - exact(TOY, 2)).sum() > 0.02


@pytest.mark.parametrize("key", ["dropped", "last-token"])
def test_a_wrong_verifier_shows_in_the_first_token(key: str) -> None:
    assert abs(shares(TOY, CHAIN, key, 1, "sequoia") - exact(TOY, 1)).sum() > 0.02


@pytest.mark.parametrize("key", ["dropped", "last-token", "draft-noise", "walk-u"])
def test_the_bugs_hide_where_p_equals_q(key: str) -> None:
    """Where p equals q, no token is rejected. No q is below 0.1, so "dropped" drops no child."""
    assert shares(EQUAL, CHAIN, key, 2, "sequoia") == pytest.approx(exact(EQUAL, 2), abs=1e-6)


def test_too_many_outcomes_are_not_computed() -> None:
    toy = Toy.parse(" ".join(["1/8"] * 8), " ".join(["1/8"] * 8))
    wide = Decoding(Tree.from_branching([5]), "sequoia", BUGS["draft-noise"])
    assert output_shares(toy, wide, cells(toy, 2)) is None
