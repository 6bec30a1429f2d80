"""Renders chats with a model's chat template.

Templates are programs written by strangers. `transformers` renders them in Jinja's sandbox, which
keeps them from accessing anything outside the template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from transformers.utils.chat_template_utils import render_jinja_template

from sequoia.errors import BadPrompt


@dataclass(frozen=True, eq=False)
class ChatTemplate:
    """A chat template. Called with a user's message, it returns the text of a chat with that one
    message, up to where the answer begins, or raises BadPrompt. Further arguments are further
    messages, the assistant's and the user's in turn.

    variables: the special tokens that the template may use, by name.
    """

    template: str
    variables: Mapping[str, Any]

    def __call__(self, *messages: str) -> str:
        chat = [
            {"role": ("user", "assistant")[i % 2], "content": message}
            for i, message in enumerate(messages)
        ]
        try:
            rendered, _ = render_jinja_template(
                [chat],
                chat_template=self.template,
                add_generation_prompt=len(chat) % 2 == 1,
                **self.variables,
            )
        except Exception as problem:  # a template can raise anything
            words = " ".join(str(problem).split())[:200] or type(problem).__name__
            raise BadPrompt(f"the model's chat template fails on this prompt: {words}") from None
        if not rendered[0].strip():
            raise BadPrompt("the model's chat template turns this prompt into an empty text")
        return rendered[0]


def chat_template(tokenizer: Any) -> ChatTemplate | None:
    """The chat template of `tokenizer`; if it has several, the one called "default". None if there
    is none."""
    found = getattr(tokenizer, "chat_template", None)
    template = found.get("default") if isinstance(found, dict) else found
    if not isinstance(template, str) or not template.strip():
        return None
    return ChatTemplate(template, tokenizer.special_tokens_map)
