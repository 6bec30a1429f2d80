"""Sentences about the draft of a loaded pair."""

from __future__ import annotations

from sequoia.measuring.copied_draft import CLEARLY, DraftNote
from sequoia.models.pair import SAME_WEIGHTS


def draft_words(note: DraftNote) -> str:
    """What a person who chooses models should know about the draft."""
    if note.code == "same":
        return SAME_WEIGHTS
    if note.code == "copy":
        return (
            f"on this machine a copy of the target in {note.numbers} is predicted to be "
            f"{_compared(note.speedup)}: {note.speedup:.1f}x at temperature 0, from a quick "
            "measurement. Decode shows whether it is"
        )
    return (
        f"a copy of the target in {note.numbers} (draft: {note.numbers}) is predicted to be a "
        f"better draft here: {note.speedup:.1f}x over plain decoding, instead of {note.now:.1f}x"
    )


def _compared(speedup: float) -> str:
    """`speedup` in words. A prediction from a quick measurement is often wrong by a tenth."""
    if speedup < 1 / CLEARLY:
        return "slower than plain decoding"
    return "faster than plain decoding" if speedup > CLEARLY else "about as fast as plain decoding"
