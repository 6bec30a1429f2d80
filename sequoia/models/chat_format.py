"""How a prompt becomes token ids: the special tokens that a tokenizer or a chat template puts
around it, and the chat template, tried with made-up messages.

What comes after the text is left out, such as a stop token, after which there is nothing to
continue."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from sequoia.errors import BadPrompt
from sequoia.models.chat_template import ChatTemplate, chat_template
from sequoia.validate_input import and_list


@dataclass(frozen=True)
class TextEnds:
    """begin: token ids that are put before a text. stops: those that the tokenizer adds at its end,
    but that are left out."""

    begin: tuple[int, ...]
    stops: tuple[int, ...]


def text_ends(tokenizer: Any) -> TextEnds:
    """What `tokenizer` adds around a text."""
    text = tokenizer("a", add_special_tokens=False)["input_ids"]
    ids = tokenizer("a")["input_ids"]
    starts = (i for i in range(len(ids)) if ids[i : i + len(text)] == text)
    start = next(starts, 0)
    return TextEnds(tuple(ids[:start]), tuple(ids[start + len(text) :]))


def stops_at_end(ids: Sequence[int], stop: Collection[int]) -> tuple[int, ...]:
    """The ids at the end of `ids` that are in `stop`."""
    return tuple(takewhile(lambda token: token in stop, reversed(ids)))[::-1]


@dataclass(frozen=True)
class ChatFormat:
    """A chat template that works. stops: ids that the template writes at the end of a chat, but
    that are left out. stop: ids that end an answer, besides those that end every text."""

    template: ChatTemplate
    stops: tuple[int, ...]
    stop: frozenset[int]

    def ids(self, message: str, encode: Callable[..., tuple[int, ...]]) -> tuple[int, ...]:
        """Token ids of a chat with one `message`, up to where the answer begins. No special tokens
        are added, because the template contains them. encode: converts a text to token ids. Raises
        BadPrompt."""
        ids = encode(self.template(message), add_special_tokens=False)
        return ids[: len(ids) - len(self.stops)]


def tried_format(tokenizer: Any, stop: frozenset[int]) -> ChatFormat | str:
    """The chat format of `tokenizer`, or why it has none that works. stop: ids that end every
    text."""
    template = _working_template(tokenizer)
    if isinstance(template, str):
        return template
    word = _word()
    last = _ids(template(word).rpartition(word)[2], tokenizer)
    ends = _answer_end(template, tokenizer, last[-1:])
    return ChatFormat(template, stops_at_end(last, stop), ends - stop)


def _working_template(tokenizer: Any) -> ChatTemplate | str:
    """The chat template, or why there is none that works."""
    template = chat_template(tokenizer)
    if template is None:
        named = tokenizer.chat_template
        others = f" called default, only {and_list([*named])}" if isinstance(named, dict) else ""
        return f"the tokenizer has none{others}"
    problem = _problem(template)
    return f"is not used, because {problem}" if problem else template


def _problem(template: ChatTemplate) -> str:
    """Why `template` cannot be used; "" if two messages are found in what it makes of them. Some
    templates drop a message that has not the form they expect."""
    words = (_word(), _word())
    try:
        kept = all(word in template(word) for word in words)
    except BadPrompt as problem:
        return str(problem)
    return "" if kept else "what it renders does not contain the message"


def _answer_end(template: ChatTemplate, tokenizer: Any, cue: list[int]) -> frozenset[int]:
    """The token that `template` writes after an answer, as a set. Empty if it writes text there,
    or cannot render answers. cue: the last id of a chat that ends where the answer begins. Some
    templates write that after an answer too. Then, or if they write nothing there, the token counts
    that they write if another message follows."""
    question, answer, further = _word(), _word(), _word()
    for messages, not_this in (((question, answer), cue), ((question, answer, further), [])):
        with suppress(BadPrompt):
            after = template(*messages).partition(answer)[2].lstrip()
            first = _ids(after, tokenizer)[:1]
            if first != not_this and _begins_with_token(after, first, tokenizer):
                return frozenset(first)
    return frozenset()


def _begins_with_token(text: str, first: list[int], tokenizer: Any) -> bool:
    """Whether `text` begins with the text of a special or other added token. first: the first id of
    the text, if it has one. (It may be the token for unknown text.)"""
    added = tokenizer.added_tokens_decoder
    return any(token in added and text.startswith(added[token].content) for token in first)


def _ids(text: str, tokenizer: Any) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def _word() -> str:
    """A word that no template contains."""
    return "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(12))
