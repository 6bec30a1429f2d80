"""What forms begin with: a temperature, and prompts that a draft does well or badly on. Data:
assets/prompts.json."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sequoia.assets_folder import ASSETS

# that forms begin with; at 0 the bundled pair soon repeats itself, which flatters speculation
TEMPERATURE = 0.6
FILE = ASSETS / "prompts.json"


@dataclass(frozen=True)
class Preset:
    """name: a word for the button. hint: what it is, in a line. text: the prompt."""

    name: str
    hint: str
    text: str


def presets() -> tuple[Preset, ...]:
    """All presets in the order of the file; the first is the one the page begins with."""
    return tuple(
        Preset(**entry) for entry in json.loads(FILE.read_text(encoding="utf-8"))["prompts"]
    )
