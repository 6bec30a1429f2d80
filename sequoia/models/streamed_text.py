"""Converts token ids to text one token at a time, with a tokenizer alone.

The texts of all tokens, followed by `TextStream.pending`, equal the tokenizer's `decode` of all
ids. Every character is returned with the token that completes it, or later if it is a replacement
character, which may stand for an incomplete one. A token is decoded together with those before it,
because many tokenizers write a token differently at the start of a text.

Only for bytes that form no character the result may differ: `decode` replaces all bytes of such a
sequence of tokens like <0xE4>, even those that formed characters and were already returned.
Encoding a text never produces such a sequence.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Any

from transformers.convert_slow_tokenizer import bytes_to_unicode

REPLACEMENT = "\ufffd"
# A text can be decoded from any of its last tokens on, if these are at least so many, because a
# character has at most four bytes.
_ENOUGH = 8


class TextStream:
    """Converts the tokens passed to `add` to text. context: earlier tokens, whose text is not
    returned."""

    def __init__(self, tokenizer: Any, context: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._window = _last(tokenizer, context)  # the last ids, which are decoded together
        self._known = len(self._window)  # how many of them were returned as text
        self._shown = len(self._decoded().rstrip(REPLACEMENT))  # characters of that text

    def add(self, token: int) -> str:
        """The text that becomes final with `token`. What may be an incomplete character is held
        back."""
        if self._tokenizer.convert_ids_to_tokens(token) is None:
            return ""
        self._window.append(token)
        text = self._decoded()
        held = int(text.endswith(REPLACEMENT))
        if held and len(self._window) - self._known < _ENOUGH:
            return ""
        new = text[self._shown : len(text) - held]
        self._window = self._window[-_ENOUGH if held else self._known :]
        self._known = len(self._window)
        self._shown = len(self._decoded()) - held
        return new

    @property
    def pending(self) -> str:
        """The rest of the text if it ends here."""
        return self._decoded()[self._shown :]

    def _decoded(self) -> str:
        return self._tokenizer.decode(self._window) if self._window else ""


def _last(tokenizer: Any, context: Sequence[int]) -> list[int]:
    """The last ids of `context`, from the start of a character on."""
    count = _ENOUGH
    while count < len(context) and tokenizer.decode(context[-count:]).startswith(REPLACEMENT):
        count *= 2
    return [*context[-count:]]


def ending(tokenizer: Any, ids: Sequence[int], count: int) -> str:
    """The text of the last `count` of `ids`, as it appears after the earlier ones."""
    cut = max(len(ids) - count, 0)
    stream = TextStream(tokenizer, ids[:cut])
    return "".join(stream.add(token) for token in ids[cut:]) + stream.pending


_AS_NAMES = "sequoia-bytes"
_BYTES = {character: byte for byte, character in bytes_to_unicode().items()}  # of byte-level tokens


class Pieces:
    """The text of each token by itself."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._before = tuple(tokenizer("a", add_special_tokens=False)["input_ids"])

    def of(self, token: int) -> str:
        """The text of `token` as it appears inside a text. Bytes of an incomplete character are
        written like <0xE4>."""
        text = ending(self._tokenizer, (*self._before, token), 1)
        if REPLACEMENT not in text:
            return text or self._tokenizer.decode([token])
        name = self._tokenizer.convert_ids_to_tokens(token)
        if not set(name) <= _BYTES.keys():
            return name
        return bytes(map(_BYTES.__getitem__, name)).decode("utf-8", _AS_NAMES)


def _named(problem: Any) -> tuple[str, int]:
    """An error handler for `decode`."""
    bad = problem.object[problem.start : problem.end]
    return "".join(f"<0x{byte:02X}>" for byte in bad), problem.end


codecs.register_error(_AS_NAMES, _named)
