"""Prompts to begin with: text that a draft does well on, and one that it does badly on. Data: assets/prompts.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "assets" / "prompts.json"


@dataclass(frozen=True)
class Preset:
    """name: a word for the button. hint: what it is, in a line. text: the prompt."""

    name: str
    hint: str
    text: str


def presets() -> tuple[Preset, ...]:
    """All presets in the order of the file; the first is the one the page begins with."""
    return tuple(Preset(**entry) for entry in json.loads(FILE.read_text(encoding="utf-8"))["prompts"])
