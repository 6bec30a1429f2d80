"""Special tokens that a tokenizer or a chat template puts around a prompt, and those among them
that are left out: after a stop token there is nothing to continue, and a model expects its first
token once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any


@dataclass(frozen=True)
class TextEnds:
    """begin, end: token ids that are put before and after a text. doubled, stops: those that the
    tokenizer adds at its beginning and at its end, but that are left out."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    doubled: tuple[int, ...]
    stops: tuple[int, ...]


def text_ends(tokenizer: Any, stop: frozenset[int]) -> TextEnds:
    """What `tokenizer` adds around a text. stop: ids that end a text."""
    text = tokenizer("a", add_special_tokens=False)["input_ids"]
    ids = tokenizer("a")["input_ids"]
    starts = (i for i in range(len(ids)) if ids[i : i + len(text)] == text)
    start = next(starts, 0)
    before, after = ids[:start], ids[start + len(text) :]
    extra = doubled(before, tokenizer)
    stops = stops_at_end(after, stop | {tokenizer.sep_token_id})
    end = after[: len(after) - len(stops)]
    return TextEnds(tuple(before[len(extra) :]), tuple(end), extra, stops)


def doubled(ids: Sequence[int], tokenizer: Any) -> tuple[int, ...]:
    """The ids at the beginning of `ids` that repeat the special token after them."""
    same = [*takewhile(lambda token: token == ids[0], ids)]
    is_special = bool(same) and same[0] in special_ids(tokenizer)
    return tuple(same[1:]) if is_special else ()


def stops_at_end(ids: Sequence[int], stop: Collection[int | None]) -> tuple[int, ...]:
    """The ids at the end of `ids` that are in `stop`."""
    return tuple(takewhile(lambda token: token in stop, reversed(ids)))[::-1]


def special_ids(tokenizer: Any) -> frozenset[int]:
    """The ids of all special tokens, whether or not they have a name such as bos_token."""
    added = tokenizer.added_tokens_decoder
    return frozenset(token for token, one in added.items() if one.special)
