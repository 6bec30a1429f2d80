"""The default temperature of the forms, and example prompts that are easy or hard to draft. Data:
assets/prompts.json."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sequoia.assets_folder import ASSETS
from sequoia.text_files import load_json

# default of the forms; at 0 the bundled pair soon repeats itself, which flatters speculation
TEMPERATURE = 0.6
FILE = ASSETS / "prompts.json"


@dataclass(frozen=True)
class Preset:
    """A prompt, and its name: the label of its button."""

    name: str
    text: str


def presets() -> tuple[Preset, ...]:
    """All presets in the order of the file. The first one is in the form when the page opens."""
    return read_prompts(FILE)


def read_prompts(path: Path) -> tuple[Preset, ...]:
    """The named prompts of a file."""
    return tuple(Preset(**entry) for entry in load_json(path)["prompts"])


@cache
def surveyed_texts(kind: str) -> frozenset[str]:
    """The texts of a kind, such as code, on which the recorded acceptance of the bundled pair was
    counted: trees are planned on them. None for other kinds."""
    path = ASSETS / "survey" / f"{kind}.json"
    return frozenset(map(str.strip, load_json(path))) if path.is_file() else frozenset()
