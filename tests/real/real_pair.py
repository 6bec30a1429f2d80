"""The real model with its draft, and prompts for it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from sequoia import Pair, load_pair
from sequoia.assets_folder import ASSETS

TEXTS = (
    "The history of the bicycle begins in the early nineteenth century, when",
    "def fibonacci(n):\n    ",
    "Ingredients: 200 g flour, 3 eggs,",
    "Der Zug nach Köln hatte 🙂",
)
CHATS = (
    "What is the capital of France?",
    "Write a haiku about rain.",
    "Explain in one sentence why the sky is blue.",
    "Write a Python function that reverses a string.",
)
PROMPTS = (*((text, False) for text in TEXTS), *((text, True) for text in CHATS))


@cache
def real_pair(target: Path, draft: Path, dtype: str, chats: bool = False) -> Pair:
    """The pair in `dtype` on the CPU. Loaded once; no test changes it."""
    if chats:
        return real_pair(target, draft, dtype).as_chat()
    return load_pair(target=str(target), draft=str(draft), device="cpu", dtype=dtype)


def hundred_prompts() -> list[tuple[str, bool]]:
    """Fifty bundled prompts, code and prose, each verbatim and as a chat message."""
    lists = [
        ASSETS / kind / f"{name}.json" for kind in ("bench", "survey") for name in ("code", "prose")
    ]
    texts = [text for path in lists for text in json.loads(path.read_text(encoding="utf-8"))]
    texts += TEXTS
    return [(text, chat) for text in texts[:50] for chat in (False, True)]
