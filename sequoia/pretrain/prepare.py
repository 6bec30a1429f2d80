"""Makes the training text from the sources: cleans it, removes near-duplicates, holds some of it
out, and counts it by source."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .clean import python_text
from .near import Seen
from .prose import joined, page
from .sources import Manual, Source, installed, manuals, standard_library

HELD_OUT = 0.02  # fraction of the files, approximately
# Once a source of code has given this many characters to train on, its other files are not used, so
# that no source dominates. Sources that this project requires are used completely.
MAX_CHARS = 2_000_000
MIN_SPLIT = 4000  # characters; texts of at least this length are split in two, if possible

# places where a text can be split: before a definition, or before a long paragraph
STARTS = {
    "code": re.compile(r"(?<=\n\n)(?:@[^\n]*\n)*(?:def |class |async def )"),
    "prose": re.compile(r"(?<=\n\n)[A-Z][^\n]{200}"),
}

Report = Callable[[str], None]


@dataclass(frozen=True)
class Text:
    """The text of one file. name: its path below the source's folder. side: "train", "held" (held
    out, chosen by a hash) or "kept" (its whole source is kept out of the training)."""

    source: str
    name: str
    kind: str
    side: str
    text: str


@dataclass
class Count:
    """Counts of one source. files: all files. kept: files that gave a Text, whatever its side.
    held: how many of these are held out. chars: characters to train on."""

    name: str
    version: str
    licence: str
    kind: str
    files: int = 0
    kept: int = 0
    chars: int = 0
    held: int = 0


@dataclass
class Prepared:
    """All texts and counts, in the order of the sources."""

    texts: list[Text] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)

    def of(self, kind: str, side: str) -> list[Text]:
        """The texts of one kind and side."""
        return [text for text in self.texts if (text.kind, text.side) == (kind, side)]

    @property
    def prose_share(self) -> float:
        """The fraction of the characters to train on that are prose."""
        code, prose = (
            sum(len(text.text) for text in self.of(kind, "train")) for kind in ("code", "prose")
        )
        return prose / max(1, code + prose)


def prepare(
    packages: Sequence[Path | str], docs: Sequence[Path | str], on_progress: Report = print
) -> Prepared:
    """Read and clean all sources, code before prose. Within each kind, the sources kept out of the
    training are read first, so that copies of their texts in the other sources are removed.

    packages: folders of Python packages. docs: folders of documentation packages. on_progress is
    called with a line about each source.
    """
    prepared = Prepared()
    seen = Seen()
    code = [standard_library(), *installed(packages)]
    for source in sorted(code, key=lambda source: not source.is_kept_out):
        _take(prepared, source, _code(source, seen), on_progress)
    for manual, source in sorted(manuals(docs), key=lambda pair: not pair[1].is_kept_out):
        _take(prepared, source, _prose(source, manual, seen), on_progress)
    return prepared


def _take(prepared: Prepared, source: Source, texts: Iterable[Text], on_progress: Report) -> None:
    count = Count(source.name, source.version, source.licence, source.kind, len(source.files))
    for text in texts:
        if count.chars >= MAX_CHARS and not source.is_required and source.kind == "code":
            break
        prepared.texts.append(text)
        count.kept += 1
        count.chars += len(text.text) if text.side == "train" else 0
        count.held += text.side == "held"
    prepared.counts.append(count)
    on_progress(
        f"{source.name} {source.version}: {count.kept} of {count.files} files, "
        f"{count.chars / 1e6:.2f} M characters"
    )


def _code(source: Source, seen: Seen) -> Iterator[Text]:
    for path in _mixed(source):
        raw = _read(path)
        clean = python_text(raw) if raw is not None else None
        new = seen.keep(clean) if clean is not None else None
        if raw is not None and new is not None and python_text(new) is not None:
            yield Text(source.name, _short(path, source), "code", _side(source, raw), new)


def _prose(source: Source, manual: Manual, seen: Seen) -> Iterator[Text]:
    for path in source.files:
        words = page(path, manual.has_python)
        new = joined(seen.keep_paragraphs(words).split("\n\n")) if words is not None else None
        if new is not None:
            yield Text(source.name, _short(path, source), "prose", _side(source, new), new)


def parts(text: Text) -> list[str]:
    """`text` as one or two texts to train on. A long text is split before one of its definitions or
    long paragraphs, if it has any. A hash of the text chooses where. So a model also learns from
    texts that start in the middle of a file, as prompts often do."""
    marks = [mark.start() for mark in STARTS[text.kind].finditer(text.text)]
    if len(text.text) < MIN_SPLIT or not marks:
        return [text.text]
    cut = marks[content_hash(text.text) % len(marks)]
    return [text.text[:cut].rstrip("\n") + "\n", text.text[cut:]]


def _mixed(source: Source) -> Sequence[Path]:
    """The files of a source of code. If the source may be cut off at MAX_CHARS, its files are
    ordered by a hash, so that the files used are an unbiased choice."""
    if source.is_required:
        return source.files
    return sorted(
        source.files, key=lambda path: hashlib.sha256("/".join(path.parts[-5:]).encode()).digest()
    )


def _short(path: Path, source: Source) -> str:
    """The path of a file below its source's folder."""
    return path.relative_to(source.root).as_posix()


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _side(source: Source, text: str) -> str:
    """The side of a file: "kept" if its source is kept out, otherwise chosen by a hash of
    `text`."""
    if source.is_kept_out:
        return "kept"
    return "held" if content_hash(text) < HELD_OUT * 2**64 else "train"


def content_hash(text: str) -> int:
    """The first 64 bits of the text's SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
