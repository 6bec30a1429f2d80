"""Sentences about acceptance and the machine."""

from __future__ import annotations

from dataclasses import replace

from sequoia.measuring.counted_acceptance import Counts, DepthTest
from tests.planned import PROFILE
from ui.words.hardware import change_words, depth_words

FOUND = DepthTest(False, 3, 1, 0, Counts(100, 30), Counts(200, 160), 0.004)


def test_a_dependence_on_depth_names_the_clearest_cell() -> None:
    words = depth_words(FOUND)
    assert "child 1 of a node at depth 1 was accepted in 30 of 100 visits (30%)" in words
    assert "in 160 of 200 (80%); p-value 0.004, corrected for 3 tests." in words
    assert depth_words(DepthTest(True, 1)).startswith("No evidence that acceptance depends on")
    assert depth_words(DepthTest(None, 0)).startswith("Too few counts to tell")


def test_a_measurement_is_compared_with_the_last_and_an_unsteady_one_is_named() -> None:
    twice = tuple((n, 2 * seconds, seconds) for n, seconds, _ in PROFILE.target_seconds)
    slower = replace(PROFILE, target_seconds=twice)
    assert change_words(PROFILE, PROFILE).endswith("as before.")
    assert "(+100%)" in change_words(PROFILE, slower)
    assert "differ by 50%" in change_words(PROFILE, slower)
