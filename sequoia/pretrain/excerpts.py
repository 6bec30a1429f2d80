"""Excerpts of texts that no pair was trained on, each divided into a prompt and the rest.

The choice of excerpts depends only on the texts and on the names of their files and folders. The
texts are in folders KIND/SOURCE, written by the step `text` of `python -m sequoia.pretrain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import BadTraining
from .clean import parsed
from .prepare import content_hash

EXCERPT = 1500  # maximum characters; about 450 tokens
MIN_EXCERPT = 900  # characters
PROMPT = (250, 600)  # a prompt of code has more than 250 characters and at most 600
MIN_PARAGRAPH = 200  # minimum characters of the paragraph that an excerpt of prose starts with

# options of the step `text` that provide texts of each kind to keep out of the training
KEPT_OUT_BY = {
    "code": "--packages and a folder that contains a package from KEPT_OUT",
    "prose": "--docs and a folder that contains a manual marked is_kept_out",
}

Excerpt = tuple[str, str]  # prompt, rest


def pick(folder: Path, kind: str, count: int) -> list[dict[str, str]]:
    """At most `count` excerpts of the `kind` "code" or "prose", one per file: {"source", "file",
    "prompt", "rest"}. The sources take turns, so that none dominates. Raises BadTraining if
    `folder` has no texts of that kind."""
    find = {"code": code_excerpt, "prose": prose_excerpt}[kind]
    sources = sorted(path for path in (folder / kind).glob("*") if path.is_dir())
    if not sources:
        raise BadTraining(
            f"no excerpts of {kind}: the step `text` found no {kind} to keep out of the training; "
            f"run it again with {KEPT_OUT_BY[kind]}; see sequoia/pretrain/sources.py"
        )
    queues = [_of_source(source, find) for source in sources]
    found: list[dict[str, str]] = []
    while queues and len(found) < count:
        queue = queues.pop(0)
        item = next(queue, None)
        if item is not None:
            found.append(item)
            queues.append(queue)
    return found


def _of_source(folder: Path, find: Callable[[str], Excerpt | None]) -> Iterator[dict[str, str]]:
    """The excerpt that `find` returns for each file in `folder`. The order is that of a hash of the
    file names. Files without an excerpt are skipped."""
    for path in sorted(folder.iterdir(), key=lambda path: content_hash(_name(path))):
        parts = find(path.read_text(encoding="utf-8"))
        if parts is not None:
            prompt, rest = parts
            yield {"source": folder.name, "file": _name(path), "prompt": prompt, "rest": rest}


def _name(path: Path) -> str:
    """The file's name without the number and "-" that it begins with."""
    return path.name.partition("-")[2]


def code_excerpt(text: str) -> Excerpt | None:
    """An excerpt that starts with a top-level block, such as a definition. The prompt ends after a
    line at which the code is complete, or only lacks the body of a block. None if no excerpt is
    long enough and has such a line."""
    lines = text.split("\n")
    tree = parsed(text)
    starts = (
        [] if tree is None else [node.lineno - 1 for node in tree.body if hasattr(node, "body")]
    )
    for start in sorted(starts, key=lambda line: content_hash(f"{line} {text[:200]}")):
        excerpt = _whole_lines("\n".join(lines[start:]), EXCERPT)
        cut = _code_cut(excerpt)
        if len(excerpt) >= MIN_EXCERPT and cut is not None:
            return excerpt[:cut], excerpt[cut:]
    return None


def _whole_lines(text: str, most: int) -> str:
    return text if len(text) <= most else text[: text.rfind("\n", 0, most) + 1]


def _code_cut(excerpt: str) -> int | None:
    """The length of the prompt in characters, chosen by a hash. None if there is no suitable one
    (see `_is_complete`)."""
    cuts = [
        i + 1
        for i in range(PROMPT[0], min(PROMPT[1], len(excerpt) - 1))
        if excerpt[i] == "\n" and _is_complete(excerpt[: i + 1])
    ]
    return cuts[content_hash(excerpt) % len(cuts)] if cuts else None


def _is_complete(prompt: str) -> bool:
    """Whether `prompt` is valid Python, by itself or with a body added to the block that it ends
    with. False if it ends with a line of spaces."""
    last = prompt.rstrip("\n").split("\n")[-1]
    if not last.strip():
        return False
    inner = " " * (len(last) - len(last.lstrip()) + 4)
    return parsed(prompt) is not None or parsed(f"{prompt}{inner}pass\n") is not None


def prose_excerpt(text: str) -> Excerpt | None:
    """An excerpt that starts with a long paragraph; None if no such excerpt is long enough. The
    prompt ends after a word, usually inside that paragraph."""
    paragraphs = text.split("\n\n")
    long = [
        i
        for i, paragraph in enumerate(paragraphs)
        if len(paragraph) >= MIN_PARAGRAPH and "\n" not in paragraph
    ]
    for first in sorted(long, key=lambda i: content_hash(paragraphs[i])):
        excerpt = "\n\n".join(paragraphs[first:])[:EXCERPT].rsplit(" ", 1)[0]
        space = excerpt.find(" ", 120 + content_hash(excerpt) % 60)
        if len(excerpt) >= MIN_EXCERPT and space > 0:
            return excerpt[:space], excerpt[space:]
    return None
