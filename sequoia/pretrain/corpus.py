"""Training text from the user's own files, cut into passages, some of which are held out.

The same files always give the same texts, in the same order and with the same split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadTraining
from .prepare import HELD_OUT, content_hash

PASSAGE_CHARS = 20_000


@dataclass(frozen=True)
class Corpus:
    """Texts to train on and texts held out; no text is in both, and none occurs twice."""

    train: tuple[str, ...]
    held: tuple[str, ...]


def text_corpus(files: Sequence[Path | str]) -> Corpus:
    """UTF-8 text files, cut into passages of at most PASSAGE_CHARS characters, so that a part of a
    single file can be held out."""
    texts = []
    for path in map(Path, files):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadTraining(f"{str(path)[:200]!r} is not a readable UTF-8 text file") from None
        texts += passages(text)
    return split(texts)


def passages(text: str, size: int = PASSAGE_CHARS) -> list[str]:
    """`text` cut into pieces of at most `size` characters, at ends of lines where possible."""
    pieces = []
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        pieces.append(text[start:end])
        start = end
    return pieces


def split(texts: Iterable[str], share: float = HELD_OUT) -> Corpus:
    """Split `texts` without duplicates; about `share` of them are held out by a hash of their
    content.

    The side of a text depends only on the text, so adding files moves none to the other side. If no
    text has a low enough hash, the one with the lowest is held out. Raises BadTraining for fewer
    than two different texts.
    """
    unique = {content_hash(text): text for text in texts if text.strip()}
    if len(unique) < 2:
        raise BadTraining(
            f"a corpus of {len(unique)} different texts; at least 2 are needed, one of them to "
            "hold out"
        )
    held = {key for key in unique if key < share * 2**64} or {min(unique)}
    train = tuple(text for key, text in unique.items() if key not in held)
    return Corpus(train, tuple(text for key, text in unique.items() if key in held))
