"""Sentences about acceptance and the machine."""

from __future__ import annotations

from sequoia.measuring.counted_acceptance import Cell, DepthTest
from ui.words.hardware import depth_words

FOUND = DepthTest(False, 3, 1, 0, Cell(100, 30), Cell(200, 160), 0.004)


def test_a_dependence_on_depth_names_the_clearest_cell() -> None:
    words = depth_words(FOUND)
    assert "child 1 of a node at depth 1 was accepted in 30 of 100 visits (30%)" in words
    assert "in 160 of 200 (80%); p = 0.004, corrected for 3 tests." in words
    assert depth_words(DepthTest(True, 1)).startswith("No evidence that acceptance depends on")
    assert depth_words(DepthTest(None, 0)).startswith("Too few counts to tell")
