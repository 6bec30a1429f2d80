"""Sentences about the draft of a loaded pair."""

from __future__ import annotations

from sequoia.measuring.copied_draft import DraftNote
from ui.words.drafts import draft_words


def test_a_note_on_the_draft_gives_its_prediction() -> None:
    assert "can never be faster" in draft_words(DraftNote("same"))
    slower, equal, faster = (
        draft_words(DraftNote("copy", "int4", speedup)) for speedup in (0.5, 1.05, 1.5)
    )
    assert "in int4 is predicted to be slower than plain decoding: 0.5x" in slower
    assert "about as fast as plain decoding: 1.1x" in equal
    assert "faster than plain decoding: 1.5x" in faster
    better = draft_words(DraftNote("better_copy", "int8", 2.0, 1.2))
    assert better.endswith("2.0x over plain decoding, instead of 1.2x")
