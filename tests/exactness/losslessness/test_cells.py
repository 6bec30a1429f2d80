"""The cells in which samples are counted: every text falls into exactly one cell, and the cells'
probabilities under the target are exact."""

from __future__ import annotations

from itertools import product

import pytest
from exact import table, true_distribution

from sequoia.exactness.losslessness.comparison import Cells

P = table("cells", 4)


@pytest.mark.parametrize("places", [1, 2, 3])
@pytest.mark.parametrize("top", [1, 2, 4])
def test_every_text_lies_in_one_cell_and_the_shares_are_exact(places: int, top: int) -> None:
    cells = Cells(P, places, top)
    assert sum(cell.share for cell in cells.all) == pytest.approx(1)
    counted = cells.shares(true_distribution(P, places))
    assert counted == pytest.approx([cell.share for cell in cells.all])


def test_a_text_is_too_short_until_its_cell_is_certain() -> None:
    cells = Cells(P, 2, 2)
    first = cells.all[0].tokens[0]
    rare = next(
        token
        for token in range(4)
        if (token, False) not in {(cell.tokens[0], False) for cell in cells.all if cell.tokens}
    )
    assert cells.find(()) is None
    assert cells.find((first,)) is None
    rest = cells.find((rare,))
    assert rest is not None
    assert cells.all[rest].is_rest
    assert cells.find((rare, 0)) == rest


def test_tokens_after_the_counted_ones_do_not_matter() -> None:
    cells = Cells(P, 2, 4)
    for text in product(range(4), repeat=2):
        assert cells.find((*text, 3)) == cells.find(text)
