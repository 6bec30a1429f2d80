"""Sentences about plans, and about a run beside its prediction, with the numbers of the plans."""

from __future__ import annotations

from ui.words.plans import (
    copy_words,
    difference,
)


def test_the_difference_is_that_of_the_values_shown() -> None:
    assert difference("verify", 0.01624, 0.01886) == "2.7 ms more"
    assert difference("tokens", 2.004, 2.506) == "0.51 more"
    assert difference("draft", 0.01624, 0.01618) == "60 µs less"  # both shown as 16.2 ms


def test_a_note_on_a_copy_gives_its_prediction() -> None:
    slower, equal, faster = (copy_words("int4", speedup) for speedup in (0.5, 1.05, 1.5))
    assert "in int4 is predicted to be slower than plain decoding: 0.5x" in slower
    assert "about as fast as plain decoding: 1.1x" in equal
    assert "faster than plain decoding: 1.5x" in faster
