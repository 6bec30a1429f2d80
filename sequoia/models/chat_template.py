"""Renders chats with a model's chat template."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sequoia.errors import BadPrompt
from sequoia.this_machine.worker_process import WorkerEnded, WorkerProcess

MOST_CHARS = 40_000  # of a rendered message
_RENDER_SECONDS = 4.0
_MORE_BYTES = 512 * 1024 * 1024  # bytes by which the process may grow once it is ready
_SCRIPT = Path(__file__).with_name("template_worker.py")
_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "USE_TORCH": "0"}


class ChatTemplate:
    """A chat template. Called with a user's message, it returns the text of a chat with that one
    message, up to where the answer begins, or raises BadPrompt. Further arguments are further
    messages, the assistant's and the user's in turn.

    variables: the special tokens that the template may use, by name. Rendering happens in a
    separate process (template_worker.py), which is started when it is needed. Safe to call from any
    thread.
    """

    def __init__(self, template: str, variables: Mapping[str, Any]) -> None:
        self._fixed = {"template": template, "variables": dict(variables), "most": MOST_CHARS}
        self._lock = threading.Lock()
        self._worker: WorkerProcess | None = None

    def __call__(self, *messages: str) -> str:
        try:
            with self._lock:
                answer = self._answer(messages)
        except WorkerEnded as problem:
            answer = {"error": str(problem)}
        if answer is None:
            raise BadPrompt(
                f"the model's chat template took more than {_RENDER_SECONDS:g} s for this "
                "prompt and was stopped"
            )
        if "error" in answer:
            raise BadPrompt(f"the model's chat template fails on this prompt: {answer['error']}")
        if not answer["text"].strip():
            raise BadPrompt("the model's chat template turns this prompt into an empty text")
        return answer["text"]

    def _answer(self, messages: tuple[str, ...]) -> dict[str, Any] | None:
        """The answer of the process, which then waits for the next chat. None if it takes too long;
        the process is then killed. Raises WorkerEnded if it ends or does not start."""
        worker = self._worker or WorkerProcess.limited(_SCRIPT, _ENVIRONMENT, _MORE_BYTES)
        self._worker = None  # stays so if there is no answer
        worker.send({**self._fixed, "contents": messages})
        answer = worker.receive(_RENDER_SECONDS)
        if answer is None:
            worker.end()
        else:
            self._worker = worker
        return answer


def chat_template(tokenizer: Any) -> ChatTemplate | None:
    """The chat template of `tokenizer`; if it has several, the one called "default". None if there
    is none."""
    found = getattr(tokenizer, "chat_template", None)
    template = found.get("default") if isinstance(found, dict) else found
    if not isinstance(template, str) or not template.strip():
        return None
    return ChatTemplate(template, tokenizer.special_tokens_map)
