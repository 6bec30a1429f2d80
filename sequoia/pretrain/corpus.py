"""Training text from the user's own files. It is cut into passages, and some passages are held out.

The same files always give the same passages, in the same order and with the same split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadTraining
from .prepare import HELD_OUT, content_hash

PASSAGE_CHARS = 20_000  # maximum characters of a passage


@dataclass(frozen=True)
class Corpus:
    """Texts to train on, and held-out texts. No text is in both, and no text occurs twice."""

    train: tuple[str, ...]
    held: tuple[str, ...]


def text_corpus(files: Sequence[Path | str]) -> Corpus:
    """The text of UTF-8 `files`, cut into passages so that part of a single file can be held out.
    Raises BadTraining if a file cannot be read, or as `split` does."""
    texts = []
    for path in map(Path, files):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadTraining(f"{str(path)[:200]!r} is not a readable UTF-8 text file") from None
        texts += passages(text)
    return split(texts)


def passages(text: str, size: int = PASSAGE_CHARS) -> list[str]:
    """`text` cut into pieces of at most `size` characters, at line ends if possible."""
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
    """Remove duplicates and blank texts from `texts`, and hold out about the fraction `share` of
    the rest, chosen by a hash of each text.

    Whether a text is held out depends only on that text, so adding files does not change it. Two
    exceptions ensure that neither part is empty: the text with the lowest hash is always held out,
    and the one with the highest hash never is. Raises BadTraining if there are fewer than two
    different texts that are not blank.
    """
    unique = {content_hash(text): text for text in texts if text.strip()}
    if len(unique) < 2:
        raise BadTraining(
            "at least 2 different passages of text are needed, one of them to hold out; the files "
            f"contain {len(unique)}"
        )
    low = {key for key in unique if key < share * 2**64}
    held = (low or {min(unique)}) - {max(unique)}
    train = tuple(text for key, text in unique.items() if key not in held)
    return Corpus(train, tuple(text for key, text in unique.items() if key in held))
