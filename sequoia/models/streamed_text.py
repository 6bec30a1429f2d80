"""Converts token ids to text one token at a time, with a tokenizer alone.

The texts of all tokens, followed by `TextStream.pending`, equal the tokenizer's `decode` of all
ids, except in the cases described last. Every character is returned with the token that completes
it, or later if the next token may change it. There are two kinds of tokens:

- Tokens that represent UTF-8 bytes: all tokens of a byte-level tokenizer (GPT-2, Llama 3, Qwen),
  and the 256 tokens <0x00> to <0xFF> with which other tokenizers (Llama 2, Mistral, Gemma) spell
  characters that have no token. Bytes are collected until they form a character. Bytes that never
  form one are replaced with as many replacement characters as `decode` would write.
- Tokens that represent whole characters: all others. They are decoded together with the tokens
  before them, because many tokenizers write a token differently at the start of a text.

The result differs from `decode` if a sequence of tokens like <0xE4> is not valid UTF-8 as a whole.
Then `decode` replaces all bytes of the sequence, even those that form characters. Here such
characters were already returned, so only the other bytes are replaced. Encoding a text never
produces such a sequence.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence
from typing import Any

from tokenizers import decoders

REPLACEMENT = "\ufffd"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
# The next token can be decoded with only this many tokens before it, because a character has at
# most four bytes.
_ENOUGH = 8


class TokenBytes:
    """The UTF-8 bytes that tokens represent. level: whether the tokenizer is byte-level. Then the
    text is exactly that of the tokens' bytes."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        backend = getattr(tokenizer, "backend_tokenizer", None)
        self.level = isinstance(getattr(backend, "decoder", None), decoders.ByteLevel)
        self._found: dict[int, bytes | None] = {}

    def of(self, token: int) -> bytes | None:
        """The bytes of `token`, b"" if there is no such token. None for a token that represents
        whole characters: its text depends on the tokens before it."""
        if token not in self._found:
            self._found[token] = self._look(token)
        return self._found[token]

    def replaced(self, broken: bytes) -> str:
        """The text that `decode` writes for the bytes `broken`, which form no character: one
        replacement character for a byte-level tokenizer, otherwise one for each byte."""
        return REPLACEMENT if self.level else REPLACEMENT * len(broken)

    def _look(self, token: int) -> bytes | None:
        name = self._tokenizer.convert_ids_to_tokens(token)
        if name is None:
            return b""
        if self.level:
            return _level_bytes(name)
        found = _BYTE_TOKEN.fullmatch(name)
        if found is None or name in self._tokenizer.decode([token]):
            return None
        return bytes([int(found[1], 16)])


def _level_bytes(name: str) -> bytes:
    """The bytes of the byte-level token called `name`."""
    if all(character in _LEVEL for character in name):
        return bytes(_LEVEL[character] for character in name)
    return name.encode("utf-8")


def _level_alphabet() -> dict[str, int]:
    """The byte that each character in the names of byte-level tokens represents. Bytes of visible
    characters are written as themselves, the others as the characters from 256 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in visible]
    shifted = {chr(0x100 + i): byte for i, byte in enumerate(others)}
    return {chr(byte): byte for byte in visible} | shifted


_LEVEL = _level_alphabet()


class Pieces:
    """The text of each token by itself."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self._bytes = TokenBytes(tokenizer)
        self._before = tuple(tokenizer("a", add_special_tokens=False)["input_ids"])

    def of(self, token: int) -> str:
        """The text of `token` as it appears inside a text. Bytes of an incomplete character are
        written like <0xE4>."""
        data = self._bytes.of(token)
        if data is None:
            stream = TextStream(self.tokenizer, self._before)
            return stream.add(token) + stream.pending or self.tokenizer.decode([token])
        text, rest = characters(data, _named)
        return text + _named(rest)


def _named(data: bytes) -> str:
    return "".join(f"<0x{byte:02X}>" for byte in data)


class TextStream:
    """Converts the tokens passed to `add` to text. context: earlier tokens, whose text is not
    returned."""

    def __init__(self, tokenizer: Any, context: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._bytes = TokenBytes(tokenizer)
        self._incomplete = b""  # the bytes so far of an incomplete character
        self._window: list[int] = []  # the last ids, which are decoded together
        self._shown = 0  # characters of the window's text that were already returned
        for token in context[-_ENOUGH:]:
            self.add(token)
        before = self._decoded()
        # a replacement character at the end may stand for a character that the next token completes
        if not before.endswith(REPLACEMENT):
            self._shown = len(before)

    def add(self, token: int) -> str:
        """The text that becomes final with `token`. An incomplete character is held back, and so is
        text that the next token may change."""
        data = self._bytes.of(token)
        if data is None:
            broken = self._broken()
            self._incomplete = b""
            return broken + self._add_text(token)
        return self._add_bytes(token, data) if data else ""

    @property
    def pending(self) -> str:
        """The rest of the text if it ends here: the text held back so far, and the replacement of
        an incomplete character."""
        return self._held() + self._broken()

    def _held(self) -> str:
        return self._decoded()[self._shown :]

    def _broken(self) -> str:
        return self._bytes.replaced(self._incomplete) if self._incomplete else ""

    def _add_bytes(self, token: int, data: bytes) -> str:
        first = not self._window
        text, self._incomplete = characters(self._incomplete + data, self._bytes.replaced)
        if self._bytes.level:
            return text
        if first and not self._incomplete:  # many tokenizers omit a space at the start of a text
            text = self._tokenizer.decode([token])
        held = self._held()
        self._window = [token]
        self._shown = len(self._decoded())
        return held + text

    def _add_text(self, token: int) -> str:
        self._window.append(token)
        text = self._decoded()
        settled = len(text) - self._unsettled(text)
        new = text[self._shown : settled]
        self._shown = max(self._shown, settled)
        self._forget(len(text) - self._shown)
        return new

    def _unsettled(self, text: str) -> int:
        """The number of characters at the end of `text` that the next token may change."""
        return int(text.endswith(REPLACEMENT) and not self._has_replacement(self._window[-1]))

    def _has_replacement(self, token: int) -> bool:
        """Whether the token's name contains a replacement character. Then a replacement character
        at the end of the text does not stand for an incomplete character."""
        return REPLACEMENT in self._tokenizer.convert_ids_to_tokens(token)

    def _forget(self, held: int) -> None:
        """Drop ids on which later text does not depend. held: characters of the text that are held
        back."""
        if held and len(self._window) <= 2 * _ENOUGH:
            return
        self._window = self._window[-_ENOUGH if held else -1 :]
        self._shown = max(len(self._decoded()) - held, 0)

    def _decoded(self) -> str:
        return self._tokenizer.decode(self._window) if self._window else ""


def ending(tokenizer: Any, ids: Sequence[int], count: int) -> str:
    """The text of the last `count` of `ids`, as it appears after the earlier ones."""
    cut = max(len(ids) - count, 0)
    stream = TextStream(tokenizer, ids[:cut])
    return "".join(stream.add(token) for token in ids[cut:]) + stream.pending


def characters(data: bytes, broken: Callable[[bytes], str]) -> tuple[str, bytes]:
    """The text of `data`, and the bytes of an incomplete character at its end. Bytes that form no
    character are replaced with the result of broken(bytes)."""
    texts = list[str]()
    while True:
        try:
            text, used = codecs.utf_8_decode(data, "strict", False)
        except UnicodeDecodeError as problem:
            texts.append(data[: problem.start].decode("utf-8"))
            texts.append(broken(data[problem.start : problem.end]))
            data = data[problem.end :]
        else:
            return "".join([*texts, text]), data[used:]
