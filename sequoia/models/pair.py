"""Pair: a target, a draft and their tokenizer, and the conversion of prompts to token ids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from sequoia.algorithm.acceptance import Acceptance
from sequoia.errors import BadPair, BadPrompt, panicked
from sequoia.models.chat_format import ChatFormat
from sequoia.models.draft import Draft
from sequoia.models.ngram import NGram
from sequoia.models.streamed_text import Pieces
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile

T = TypeVar("T")


@dataclass
class PairCache:
    """Cached measurements of one pair. Any of them may still be missing.

    profile: this machine's step times with the pair. acceptances: by temperature, top-p and
    verifier. kind: the texts classified last, and the kind of text that they are. chats: the cache
    for chat messages, which have other acceptance rates. other: anything else computed once for the
    pair.
    """

    profile: HardwareProfile | None = None
    acceptances: dict[tuple[float, float, str], Acceptance] = field(default_factory=dict)
    kind: tuple[tuple[str, ...], str] | None = None
    chats: PairCache | None = None
    other: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The cached value for `key`. The first call for a key gets it from `make`."""
        if key not in self.other:
            self.other[key] = make()
        return self.other[key]

    def as_chat(self) -> PairCache:
        """The cache for chat messages, always the same object. It gets the profile of `self`."""
        self.chats = self.chats or PairCache()
        self.chats.profile = self.profile or self.chats.profile
        return self.chats


MAX_PROMPT_CHARS = 20_000
CHAT = "chat"  # the kind of text that answers chat messages


@dataclass(frozen=True)
class RecordedAcceptance:
    """An acceptance vector that comes with a pair, for planning trees. It was measured on texts of
    one `kind` at one temperature. Usually it was then fitted to the tokens per step that a tree
    yielded on the same texts (see `fitted` in algorithm/expected_tokens.py).

    agreement: the mean overlap of the target's and the draft's distributions along those texts, by
    which the kind of another text is recognised. None if it was not measured (see `agreement` in
    measuring/acceptance_teacher_forced.py).
    """

    temperature: float
    acceptance: Acceptance
    kind: str = ""
    agreement: float | None = None


@dataclass(frozen=True)
class Pair:
    """The models and data that decoding needs. Raises BadPair if the two vocabularies differ in
    size.

    begin: token ids that are put before every prompt, unless it is wrapped as a chat message. stop:
    token ids that end a run. known: acceptance vectors that come with the pair, those for the usual
    kind of text first. survey: the file that has them. measured: a cache for measurements of this
    pair. template: wraps a prompt as a chat message; None if the models have none that works.
    chats: whether prompts are wrapped by default. notes: what loading found out about prompts and
    the end of texts, in words, by subject.
    """

    name: str
    target: TreeModel
    draft: Draft
    tokenizer: Any
    begin: tuple[int, ...] = ()
    stop: frozenset[int] = frozenset()
    known: tuple[RecordedAcceptance, ...] = ()
    survey: Path | None = field(default=None, repr=False, compare=False)
    measured: PairCache = field(default_factory=PairCache, repr=False, compare=False)
    template: ChatFormat | None = field(default=None, repr=False, compare=False)
    chats: bool = False
    notes: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.target.vocab != self.draft.vocab:
            raise BadPair(
                f"the target has {self.target.vocab:,} tokens and the draft {self.draft.vocab:,}; "
                "the numbers must be equal"
            )

    @property
    def limit(self) -> int:
        """The longest text, in tokens, that both models can process."""
        return min(self.target.limit, self.draft.limit)

    @property
    def limit_reason(self) -> str:
        """Why the model with the lower limit can process less text than its config states. "" if
        this limit is the one in its config."""
        reasons = [one.limit_reason for one in (self.target, self.draft) if one.limit == self.limit]
        return next(filter(None, reasons), "")

    def with_lookup(self) -> Pair:
        """The same target with a lookup in the text as its draft (see ngram.py), always the same
        object."""
        return self.measured.once("lookup", self._with_lookup)

    def _with_lookup(self) -> Pair:
        draft = NGram(self.target.vocab, self.target.limit)
        name = f"{self.target.name} + {draft.name}"
        return replace(self, name=name, draft=draft, known=(), measured=PairCache())

    def as_chat(self) -> Pair:
        """The same pair with prompts wrapped as chat messages by default. Acceptance is different
        in chats, so measurements of the new pair are cached separately. A run also ends at the
        token that the chat template writes after an answer."""
        if self.chats:
            return self
        stop = self.stop | (self.template.stop if self.template else frozenset())
        known = tuple(one for one in self.known if one.kind == CHAT) or self.known
        return replace(self, chats=True, stop=stop, known=known, measured=self.measured.as_chat())

    def encode(self, prompt: str, chat: bool | None = None) -> tuple[int, ...]:
        """Token ids of `prompt`. chat: whether to wrap it as a chat message first; the text then
        ends where the answer begins. None means the value of `chats`.

        Raises BadPrompt if the prompt is empty or not text, is too long, or cannot be wrapped or
        tokenised.
        """
        if not isinstance(prompt, str) or not prompt.strip():
            raise BadPrompt("the prompt is empty; type some text for the models to continue")
        if len(prompt) > MAX_PROMPT_CHARS:
            raise BadPrompt(
                f"the prompt has {len(prompt)} characters; the limit is {MAX_PROMPT_CHARS}"
            )
        if any("\ud800" <= character <= "\udfff" for character in prompt):
            raise BadPrompt(
                "the prompt contains half a character (a lone surrogate), which is not text; type "
                "it again"
            )
        ids = (
            self._message(prompt) if (self.chats if chat is None else chat) else self._text(prompt)
        )
        if not ids:
            raise BadPrompt(
                "the prompt has no tokens: this pair's tokenizer has no token for any of its "
                "characters; type another text"
            )
        if len(ids) >= self.limit:
            why = f": {self.limit_reason}" if self.limit_reason else ""
            raise BadPrompt(
                f"the prompt has {len(ids)} tokens; the limit is {self.limit - 1}, because the "
                f"models' context of {self.limit} must have room for a new token{why}"
            )
        return ids

    def require_room(self, prompt: str, new: int) -> None:
        """Raises BadPrompt as `encode` does. If there is a `limit_reason`, also raises BadPrompt if
        `prompt` plus `new` tokens are longer than `limit`. If there is no reason, a run just ends
        at the end of the context."""
        tokens = len(self.encode(prompt))
        total = tokens + new
        if total > self.limit and self.limit_reason:
            raise BadPrompt(
                f"the prompt's {tokens} tokens and {new} new ones are {total}; the models' limit "
                f"is {self.limit}: {self.limit_reason}"
            )

    def _text(self, prompt: str) -> tuple[int, ...]:
        """Token ids of `prompt` after `begin`. If the prompt begins with the text of `begin`, it is
        not added again."""
        ids = self._ids(prompt, add_special_tokens=False)
        begin = () if ids[: len(self.begin)] == self.begin else self.begin
        return begin + ids

    def _message(self, prompt: str) -> tuple[int, ...]:
        if self.template is None:
            raise BadPrompt(
                "these models have no chat template that works; a prompt can only be used verbatim"
            )
        return self.template.ids(prompt, self._ids)

    def _ids(self, text: str, **options: Any) -> tuple[int, ...]:
        """Token ids of `text`. Raises BadPrompt if the tokenizer panics."""
        try:
            return tuple(self.tokenizer(text, **options)["input_ids"])
        except BaseException as problem:
            if not panicked(problem):
                raise
            raise BadPrompt("the tokenizer failed on this prompt; try another text") from problem

    @cached_property
    def pieces(self) -> Pieces:
        """The texts of single tokens."""
        return Pieces(self.tokenizer)
