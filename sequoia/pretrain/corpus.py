"""Which text a pair is trained on: Python's standard library and the installed requirements, or any text files.

Knows files and characters; nothing of tokens or models. The same files on disk always give the same texts in the same order
and the same split.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadTraining

# Module name and the globs below its folder.
PACKAGES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("networkx", ("**/*.py",)),
    ("accelerate", ("**/*.py",)),
    ("gradio", ("**/*.py",)),
    ("torch", ("nn/**/*.py", "optim/**/*.py", "distributions/**/*.py", "utils/**/*.py")),
    ("transformers", ("*.py", "generation/**/*.py", "utils/**/*.py")),
    *((name, ("**/*.py",)) for name in ("fastapi", "starlette", "click", "rich", "httpx", "jinja2", "tqdm", "typer", "pydantic",
                                        "huggingface_hub", "fsspec", "narwhals")),
)
SKIPPED_FOLDERS = frozenset({"site-packages", "dist-packages", "lib2to3", "idlelib", "turtledemo", "__pycache__"})
SKIPPED_NAMES = ("bad_", "badsyntax_")  # test files that are wrong on purpose

MIN_CHARS, MAX_CHARS = 200, 400_000
MIN_ASCII = 0.98
MAX_LINE = 400
PASSAGE_CHARS = 20_000
HELD_OUT = 0.02


@dataclass(frozen=True)
class Corpus:
    """Texts to train on and texts held out; no text is in both, and none occurs twice."""

    train: tuple[str, ...]
    held: tuple[str, ...]

    @property
    def chars(self) -> int:
        return sum(map(len, self.train + self.held))


def python_corpus() -> Corpus:
    """Python sources of this installation that pass the filters; packages that are not installed are left out."""
    return split(text for path in python_files() if (text := _read(path)) is not None and is_wanted(text))


def text_corpus(files: Sequence[Path | str]) -> Corpus:
    """Any UTF-8 text files, cut into passages of at most PASSAGE_CHARS so that a part of a single file can be held out."""
    texts = []
    for path in map(Path, files):
        text = _read(path)
        if text is None:
            raise BadTraining(f"{str(path)[:200]!r} is no readable UTF-8 text file")
        texts += passages(text)
    return split(texts)


def python_files() -> Iterator[Path]:
    """Paths of the standard library, then of each installed package, each in alphabetic order."""
    yield from _files(Path(sysconfig.get_path("stdlib")), ("**/*.py",))
    for name, globs in PACKAGES:
        spec = importlib.util.find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            yield from _files(Path(folder), globs)


def _files(root: Path, globs: Sequence[str]) -> list[Path]:
    found = {path for pattern in globs for path in root.glob(pattern)}
    return sorted(path for path in found if _is_allowed(path.relative_to(root)))


def _is_allowed(relative: Path) -> bool:
    return SKIPPED_FOLDERS.isdisjoint(relative.parts) and not relative.name.startswith(SKIPPED_NAMES)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def is_wanted(text: str) -> bool:
    """The filters: neither tiny nor generated tables, nearly all ASCII, no overlong line."""
    if not MIN_CHARS <= len(text) <= MAX_CHARS:
        return False
    ascii_chars = len(text.encode("ascii", "ignore"))
    return ascii_chars >= MIN_ASCII * len(text) and max(map(len, text.splitlines())) <= MAX_LINE


def passages(text: str, size: int = PASSAGE_CHARS) -> list[str]:
    """`text` in pieces of at most `size` characters, cut after a line's end where there is one; joined they are the text."""
    pieces, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            end = text.rfind("\n", start, end) + 1 or end
        pieces.append(text[start:end])
        start = end
    return pieces


def split(texts: Iterable[str], share: float = HELD_OUT) -> Corpus:
    """Without duplicates, and with about `share` of the texts held out by a hash of their content.

    A text's side depends on nothing but the text, so adding files moves none across. If the hash holds out none, the text
    with the lowest hash is. Raises BadTraining for fewer than two different texts.
    """
    unique = {_hash(text): text for text in texts if text.strip()}
    if len(unique) < 2:
        raise BadTraining(f"a corpus of {len(unique)} different texts; at least 2 are needed, one of them to hold out")
    held = {key for key in unique if key < share * 2**64} or {min(unique)}
    train = tuple(text for key, text in unique.items() if key not in held)
    return Corpus(train, tuple(text for key, text in unique.items() if key in held))


def _hash(text: str) -> int:
    """The first 64 bits of SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
