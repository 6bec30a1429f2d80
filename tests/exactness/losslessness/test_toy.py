"""The toy distributions p and q that a visitor types in: which texts are accepted, and how the
others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sequoia.errors import BadSamplingParams
from sequoia.exactness.losslessness.tested_models import Toy


def test_numbers_and_fractions_are_accepted() -> None:
    toy = Toy.parse("1/3 1/3, 1/3", " .5,0.25 , 2.5e-1")
    assert toy.target.sum() == pytest.approx(1)
    assert np.allclose(toy.draft, [0.5, 0.25, 0.25])
    assert toy.draft.dtype == np.float32
    assert toy.vocab == 3


@pytest.mark.parametrize(
    ("p", "q", "words"),
    [
        ("", "0.5 0.5", "p: 0 numbers; enter 2 to 8"),
        ("0.5 0.6", "0.5 0.5", "p: the numbers sum to 1.1 instead of 1"),
        ("nan 1", "0.5 0.5", "p: 'nan' is not a number from 0 to 1"),
        ("1/0 1", "0.5 0.5", "p: '1/0' is not a number"),
        ("0.5 0.5", "0.5 0.25 0.25", "q: 3 numbers; enter 2 numbers, as for p"),
        ("0.5 0.5", "x" * 201, "q: 201 characters"),
    ],
)
def test_a_bad_distribution_is_refused_with_the_reason(p: Any, q: Any, words: str) -> None:
    with pytest.raises(BadSamplingParams, match="^" + words.replace("(", "\\(")):
        Toy.parse(p, q)
