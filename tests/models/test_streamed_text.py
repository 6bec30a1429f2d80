"""A text made token by token equals what `decode` makes of all its ids, for every kind of
tokenizer. The docstring of streamed_text.py describes the exception."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest
from fake_tokenizers import FALLBACK, KINDS
from fakes import tiny_pair, tiny_tokenizer

from sequoia.decoding.recorder import prompt_pieces
from sequoia.models.streamed_text import Pieces, TextStream

TEXTS = 80  # random texts for each kind of tokenizer
RANGES = [(0x20, 0x7E), (0xA0, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)]
tokenizer_of = cache(lambda kind: KINDS[kind]())


def some_text(chance: random.Random) -> str:
    """A random text of up to a dozen parts, each of a random kind."""
    return "".join(_part(chance) for _ in range(chance.randint(1, 12)))


def _part(chance: random.Random) -> str:
    return chance.choice(
        [
            " " * chance.randint(1, 4),
            "".join(_anywhere(chance) for _ in range(chance.randint(1, 6))),
            "e\u0301o\u0302\u0323 हिन्दी",
            "👩\u200d💻🏽❤\ufe0f",
            "你好世界" * chance.randint(1, 10),
            "the don't it's n ' t a . b , c ? ' x",
            "\ufffd",
            chance.choice(["\n", "\t", "\r\n", "\x00", "\u2028"]),
            chance.choice(["<|call|>", "<s>", "<｜two▁words x｜>", "[SEP]"]),
            "".join(chance.choice("the an in er") for _ in range(8)),
        ]
    )


def _anywhere(chance: random.Random) -> str:
    """A random code point of any Unicode plane, but no control character or surrogate."""
    return chr(chance.randint(*chance.choice(RANGES)))


def given_out(tokenizer: Any, ids: Sequence[int], cut: int = 0) -> Iterator[str]:
    """Streams the ids from `cut` on; the earlier ones are the context. Yields the text streamed so
    far after each token, and once more at the end, with what was still pending."""
    stream = TextStream(tokenizer, ids[:cut])
    text = ""
    for token in ids[cut:]:
        text += stream.add(token)
        yield text
    yield text + stream.pending


def cuts(tokenizer: Any, ids: Sequence[int], chance: random.Random) -> list[tuple[int, str]]:
    """Positions in `ids` where a prompt of whole characters may end, each with the text of that
    prompt."""
    whole = tokenizer.decode(ids)
    found = []
    for cut in {0, chance.randint(0, len(ids)), chance.randint(0, len(ids))}:
        text = tokenizer.decode(ids[:cut])
        if whole.startswith(text) and not text.endswith("\ufffd"):
            found.append((cut, text))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_of_any_string_is_what_decode_makes_of_all_its_ids(kind: str) -> None:
    """This also holds if the first of the ids are a prompt and only the rest is streamed."""
    tokenizer = tokenizer_of(kind)
    chance = random.Random(f"text {kind}")
    compared = 0
    for _ in range(TEXTS):
        ids = tokenizer(some_text(chance), add_special_tokens=False)["input_ids"]
        whole = tokenizer.decode(ids)
        for cut, before in cuts(tokenizer, ids, chance):
            assert before + [*given_out(tokenizer, ids, cut)][-1] == whole
            compared += 1
    assert compared > TEXTS


@pytest.mark.parametrize("kind", KINDS)
def test_a_character_is_emitted_with_the_token_that_completes_it(kind: str) -> None:
    """After each token, the text equals `decode` of the ids so far. Where those end inside a
    character, nothing is compared."""
    tokenizer = tokenizer_of(kind)
    chance = random.Random(f"soon {kind}")
    compared = 0
    for _ in range(TEXTS):
        text = some_text(chance).replace("\ufffd", "")
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        whole = tokenizer.decode(ids)
        for count, shown in enumerate(given_out(tokenizer, ids), 1):
            so_far = tokenizer.decode(ids[:count])
            if whole.startswith(so_far):
                assert shown == so_far
                compared += 1
    assert compared > TEXTS


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in FALLBACK])
def test_the_text_of_any_ids_is_what_decode_makes_of_them(kind: str) -> None:
    """This includes bytes that form no character, and ids without a token."""
    tokenizer = tokenizer_of(kind)
    chance = random.Random(f"ids {kind}")
    for _ in range(TEXTS):
        ids = [chance.randrange(len(tokenizer) + 3) for _ in range(chance.randint(1, 60))]
        assert [*given_out(tokenizer, ids)][-1] == tokenizer.decode(ids)


def ids_of(tokenizer: Any, data: bytes) -> list[int]:
    return [tokenizer.convert_tokens_to_ids(f"<0x{byte:02X}>") for byte in data]


# -- cost ------------------------------------------------------------------------------------------


class Counting:
    """A tokenizer that counts the ids it is asked to decode."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.decoded = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def decode(self, ids: Sequence[int]) -> str:
        self.decoded += len(ids)
        return self._tokenizer.decode(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_tokens_cost_ten_thousand_times_one(kind: str) -> None:
    """Bytes that never complete a character are not decoded from the start at every token."""
    tokenizer = Counting(tokenizer_of(kind))
    broken = [token for token in range(len(tokenizer_of(kind))) if "\ufffd" in piece(kind, token)]
    words = tokenizer.convert_tokens_to_ids(["'", "n", "x"])
    for some in filter(None, (broken, words)):
        chance = random.Random(kind)
        tokenizer.decoded = 0
        stream = TextStream(tokenizer)
        for _ in range(10_000):
            stream.add(chance.choice(some))
        assert tokenizer.decoded < 40 * 10_000


def piece(kind: str, token: int) -> str:
    return tokenizer_of(kind).decode([token])


# -- single tokens ---------------------------------------------------------------------------------


def test_a_piece_shows_bytes_that_are_no_character() -> None:
    """With replacement characters, all tokens for a part of a character would look the same."""
    level = tiny_tokenizer()
    fallback = tokenizer_of("byte fallback, Llama")
    smile = level("🙂")["input_ids"]
    assert [*map(Pieces(level).of, smile)] == ["<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]
    assert [*map(Pieces(fallback).of, ids_of(fallback, b"\xe4A\n"))] == ["<0xE4>", "A", "\n"]


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("byte fallback, Llama", "▁a", " a"),
        ("word pieces", "the", " the"),
        ("word pieces", "##ing", "ing"),
        ("byte-level", "Ġ", " "),
    ],
)
def test_a_piece_is_a_tokens_text_inside_a_text(kind: str, name: str, text: str) -> None:
    """At the start of a text, many tokenizers omit the space of the token."""
    tokenizer = tokenizer_of(kind)
    assert Pieces(tokenizer).of(tokenizer.convert_tokens_to_ids(name)) == text


# -- prompts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "expected"), [(0, "…"), (2, "a…h"), (4, "ab…gh")])
def test_a_long_prompt_is_shown_without_its_middle(most: int, expected: str) -> None:
    shown = prompt_pieces(tiny_pair(), "abcdefgh", most)
    assert "".join(text for text, _ in shown) == expected
    assert ("…", False) in shown
