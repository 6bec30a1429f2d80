"""Excerpts of texts that no pair was trained on, each in two parts: a prompt, and how the text
went on.

Which ones are taken depends on the texts alone. Knows files in a folder KIND/SOURCE/NAME, as the
text step writes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from .clean import parsed

EXCERPT = 1500  # characters at most; some 450 tokens
MIN_EXCERPT = 900
PROMPT = (250, 600)  # characters of a prompt, least and most
MIN_PARAGRAPH = 200

Excerpt = tuple[str, str]  # prompt, rest


def pick(folder: Path, kind: str, count: int) -> list[dict[str, str]]:
    """At most `count` excerpts, each of another file; sources take turns, so that none has most
    of them.
    """
    find = {"code": code_excerpt, "prose": prose_excerpt}[kind]
    queues = [_of_source(source, find) for source in sorted((folder / kind).iterdir())]
    found: list[dict[str, str]] = []
    while queues and len(found) < count:
        queue = queues.pop(0)
        item = next(queue, None)
        if item is not None:
            found.append(item)
            queues.append(queue)
    return found


def _of_source(folder: Path, find: Callable[[str], Excerpt | None]) -> Iterator[dict[str, str]]:
    """Excerpts of a source's files, in an order by hash."""
    for path in sorted(folder.iterdir(), key=lambda path: _hash(path.name[5:])):
        parts = find(path.read_text())
        if parts is not None:
            yield {
                "source": folder.name,
                "file": path.name[5:],
                "prompt": parts[0],
                "rest": parts[1],
            }


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def code_excerpt(text: str) -> Excerpt | None:
    """From a top-level definition on; the prompt ends with a whole line of it, where it could
    be run or go on.
    """
    lines = text.split("\n")
    tree = parsed(text)
    starts = (
        [] if tree is None else [node.lineno - 1 for node in tree.body if hasattr(node, "body")]
    )
    for start in sorted(starts, key=lambda line: _hash(f"{line} {text[:200]}")):
        excerpt = _whole_lines("\n".join(lines[start:]), EXCERPT)
        cut = _code_cut(excerpt)
        if len(excerpt) >= MIN_EXCERPT and cut is not None:
            return excerpt[:cut], excerpt[cut:]
    return None


def _whole_lines(text: str, most: int) -> str:
    return text if len(text) <= most else text[: text.rfind("\n", 0, most) + 1]


def _code_cut(excerpt: str) -> int | None:
    """Characters of the prompt: one of the line ends that leave nothing open but blocks, by
    hash.
    """
    cuts = [
        i + 1
        for i in range(PROMPT[0], min(PROMPT[1], len(excerpt) - 1))
        if excerpt[i] == "\n" and _is_whole(excerpt[: i + 1])
    ]
    return cuts[_hash(excerpt) % len(cuts)] if cuts else None


def _is_whole(prompt: str) -> bool:
    """Whether it is Python as it stands, or with a body for the block it has just opened."""
    last = prompt.rstrip("\n").split("\n")[-1]
    if not last.strip():
        return False
    inner = " " * (len(last) - len(last.lstrip()) + 4)
    return parsed(prompt) is not None or parsed(f"{prompt}{inner}pass\n") is not None


def prose_excerpt(text: str) -> Excerpt | None:
    """Whole paragraphs; the prompt ends inside one of them, after a word."""
    paragraphs = text.split("\n\n")
    long = [
        i
        for i, paragraph in enumerate(paragraphs)
        if len(paragraph) >= MIN_PARAGRAPH and "\n" not in paragraph
    ]
    for first in sorted(long, key=lambda i: _hash(paragraphs[i])):
        excerpt = "\n\n".join(paragraphs[first:])[:EXCERPT].rsplit(" ", 1)[0]
        space = excerpt.find(" ", 120 + _hash(excerpt) % 60)
        if len(excerpt) >= MIN_EXCERPT and space > 0:
            return excerpt[:space], excerpt[space:]
    return None
