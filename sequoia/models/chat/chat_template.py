"""A prompt as a chat message: the text that a model's chat template makes of it. Knows no
models and no tokens."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sequoia.errors import BadPrompt
from sequoia.this_machine.worker_process import WorkerEnded, WorkerProcess

MOST_CHARS = 40_000  # of a rendered message
_START_SECONDS = 60.0
_RENDER_SECONDS = 4.0
_LOOK_SECONDS = 0.5
_KEPT = 32
_MORE_BYTES = 512 * 1024 * 1024  # of memory, than the process has when it is ready
_SCRIPT = Path(__file__).with_name("render_template.py")
_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "USE_TORCH": "0"}


class ChatTemplate:
    """Calling it with a message gives the text of a chat of that message alone, up to where the
    answer begins. Raises BadPrompt.

    variables: what the template may use, the special tokens by name. It is rendered by a process of
    its own (render.py), started at the first call; a message that was rendered before is not
    rendered again. Safe to call from any thread.
    """

    def __init__(self, template: str, variables: Mapping[str, Any]) -> None:
        self._fixed = {"template": template, "variables": dict(variables), "most": MOST_CHARS}
        self._lock = threading.Lock()
        self._kept = OrderedDict[str, str]()
        self._worker: WorkerProcess | None = None

    def __call__(self, message: str) -> str:
        with self._lock:
            if message not in self._kept:
                self._kept[message] = self._rendered(message)
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            return self._kept[message]

    def _rendered(self, message: str) -> str:
        try:
            answer = self._answer(message)
        except WorkerEnded as problem:
            self._worker = None
            answer = {"error": str(problem)}
        if answer is None:
            raise BadPrompt(
                f"the model's chat template took more than {_RENDER_SECONDS:g} s for this "
                "prompt and was stopped"
            )
        if "error" in answer:
            raise BadPrompt(f"the model's chat template fails on this prompt: {answer['error']}")
        if not answer["text"].strip():
            raise BadPrompt("the model's chat template makes an empty text of this prompt")
        return answer["text"]

    def _answer(self, message: str) -> dict[str, Any] | None:
        """What the process says; None where it takes too long, and it is ended.
        Raises WorkerEnded."""
        if self._worker is None:
            self._worker = WorkerProcess(_SCRIPT, _ENVIRONMENT)
            self._received(_START_SECONDS)
            if self._worker:
                self._worker.limit_memory(_MORE_BYTES)
        if self._worker:
            self._worker.send({**self._fixed, "message": message})
        return self._received(_RENDER_SECONDS)

    def _received(self, seconds: float) -> dict[str, Any] | None:
        end = time.monotonic() + seconds
        while self._worker and time.monotonic() < end:
            if answer := self._worker.receive(_LOOK_SECONDS):
                return answer
        if self._worker:
            self._worker.end()
        self._worker = None
        return None


def chat_template(tokenizer: Any) -> ChatTemplate | None:
    """The chat template that comes with `tokenizer`, None where it has none that can be used
    without choosing among several."""
    found = getattr(tokenizer, "chat_template", None)
    template = found.get("default") if isinstance(found, dict) else found
    if not isinstance(template, str) or not template.strip():
        return None
    special = {
        name: value
        for name, value in tokenizer.special_tokens_map.items()
        if isinstance(value, str | list)
    }
    return ChatTemplate(template, special)
