"""Extracts English text from a page of documentation in HTML, POD or plain text. Each paragraph
becomes one line. Code examples keep their line breaks."""

from __future__ import annotations

import gzip
import html
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

MAX_PARAGRAPH = 2500  # characters
MIN_PROSE = 0.6  # fraction of the extracted characters that are in English sentences
MIN_PAGE = 400  # characters
MAX_EXAMPLE_LINES = 25
COMMON_WORDS = """the of and to a in is that for it with as be are this on or by not an if can from
you which will when at have has was but all use used one may"""
COMMON = frozenset(COMMON_WORDS.split())

DROPPED = re.compile(
    r"<(script|style|nav|header|footer|head|table|form|aside|svg|button|sup|math)\b.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
BLOCK = re.compile(
    r"<(/?)(p|h[1-6]|li|dt|dd|pre|blockquote|div|section|ul|ol|dl|body|article|br\s*/?|hr)\b[^>]*>",
    re.IGNORECASE,
)
SIDEBAR = re.compile(
    r"<div[^>]*class=\"[^\"]*(sphinxsidebar|related|footer|navigation|toctree-wrapper"
    r"|navsettop|navsetbottom|tocset|maincolumn-versionbox)[^\"]*\".*?</div>",
    re.DOTALL,
)
TAG = re.compile(r"<[^>]*>")
PERMALINK = re.compile(r"<a class=\"headerlink\".*?</a>", re.DOTALL)
PLAIN = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "–": "-",
        "—": "-",
        "…": "...",
        "\u00a0": " ",
        "→": "->",
        "•": "-",
        "×": "x",
        "\u200b": "",
        "−": "-",
        "≤": "<=",
        "≥": ">=",
        "¶": "",
        "\u00ad": "",
        "‑": "-",
    }
)


def page(path: Path, has_python: bool) -> str | None:
    """The page's English text as paragraphs separated by blank lines, or None if the page cannot be
    read or has too little English text. has_python: as in `html_blocks`."""
    raw = _raw(path)
    if raw is None:
        return None
    if path.suffix == ".html":
        return joined(html_blocks(raw, has_python))
    return joined(pod_blocks(raw) if path.suffix == ".pod" else text_blocks(raw))


def _raw(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError, EOFError, zlib.error):
        return None


def joined(blocks: Iterable[str]) -> str | None:
    """The usable blocks as one text. None if the text is too short, or too little of it is English
    sentences."""
    kept = [block for block in blocks if is_fit(block)]
    while kept and not is_sentence(kept[-1]) and "\n" not in kept[-1]:
        kept.pop()  # such as a heading with nothing below it
    text = "\n\n".join(kept)
    prose = sum(len(block) for block in kept if is_sentence(block))
    if len(text) < MIN_PAGE or prose < MIN_PROSE * len(text):
        return None
    return text + "\n"


def is_fit(block: str) -> bool:
    """Whether a block contains letters, is short enough, and is nearly all ASCII."""
    ascii_chars = len(block.encode("ascii", "ignore"))
    if not re.search("[A-Za-z]", block):
        return False
    return len(block) <= MAX_PARAGRAPH and ascii_chars >= 0.98 * len(block)


def is_sentence(block: str) -> bool:
    """Whether a block looks like an English sentence: it has at least eight words, many of them
    common, and it is mostly letters."""
    words = re.findall(r"[A-Za-z']+", block)
    if len(words) < 8:
        return False
    common = sum(word.lower() in COMMON for word in words)
    letters = sum(map(str.isalpha, block))
    return common >= 0.25 * len(words) and letters >= 0.65 * len(block)


def html_blocks(raw: str, has_python: bool) -> Iterator[str]:
    """Headings, paragraphs and list items of an HTML page, in order. has_python: whether the page's
    examples are Python code; if so, they are included."""
    body = COMMENT.sub("", DROPPED.sub("", PERMALINK.sub("", raw)))
    body = SIDEBAR.sub("", body)
    kind = ""
    start = 0
    for mark in [*BLOCK.finditer(body), None]:
        end = mark.start() if mark else len(body)
        block = _block(kind, body[start:end], has_python)
        if block:
            yield block
        if mark:
            kind = _next_kind(kind, mark)
            start = mark.end()


def _next_kind(kind: str, mark: re.Match[str]) -> str:
    """The kind of block (a tag's name, or "") after the tag `mark`. Inside <pre>, all tags except
    its end are ignored."""
    name = mark[2].lower()
    closes = bool(mark[1])
    if kind == "pre" and not (closes and name == "pre"):
        return kind
    return "" if closes else name


def _block(kind: str, piece: str, has_python: bool) -> str:
    words = html.unescape(TAG.sub("", piece)).translate(PLAIN)
    if kind == "pre":
        return _example(words) if has_python else ""
    words = " ".join(words.split())
    if kind == "li":
        return f"- {words}" if is_sentence(words) else ""
    if kind in ("p", "dd", "blockquote"):
        return words if _ends(words) else ""
    is_heading = re.fullmatch("h[1-6]", kind)
    return words if is_heading or is_sentence(words) else ""


def _ends(words: str) -> bool:
    """Whether `words` have more than 15 characters, and end like a sentence or with a colon."""
    return words.endswith((".", ":", "!", "?", ".)", '."', ".'")) and len(words) > 15


def _example(words: str) -> str:
    lines = [line.rstrip() for line in words.strip("\n").splitlines()]
    if not 1 <= len(lines) <= MAX_EXAMPLE_LINES or max(map(len, lines), default=0) > 100:
        return ""
    return "\n".join(lines)


def pod_blocks(raw: str) -> Iterator[str]:
    """Headings and paragraphs of a page in Perl's POD format. Code examples (indented) and all
    commands (lines that start with "=") except headings are left out."""
    for part in re.split(r"\n\s*\n", raw):
        if part.startswith((" ", "\t")) or not part.strip():
            continue
        heading = re.match(r"=head\d\s+(.*)", part, re.DOTALL)
        if part.startswith("=") and not heading:
            continue
        yield _pod_plain(heading[1] if heading else part)


def _pod_plain(part: str) -> str:
    for _ in range(3):  # formatting codes can be nested
        part = re.sub(r"[XZ]<[^<>]*>", "", part)
        part = re.sub(r"L<(?:[^<>|]*\|)?([^<>|]*)>", r"\1", part)
        part = re.sub(r"[BCEFIS]<< (.*?) >>", r"\1", part, flags=re.DOTALL)
        part = re.sub(r"[BCEFIS]<([^<>]*)>", r"\1", part)
    return " ".join(part.translate(PLAIN).split())


def text_blocks(raw: str) -> Iterator[str]:
    """Paragraphs of a plain text page that look like sentences, each on one line."""
    for part in re.split(r"\n\s*\n", raw):
        words = " ".join(part.translate(PLAIN).split())
        if is_sentence(words):
            yield words
