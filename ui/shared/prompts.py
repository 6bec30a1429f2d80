"""The example prompts in assets/prompts.json, the check of a prompt's length, the texts on which
acceptance was counted, the kind of a text, and the default temperature of the forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sequoia.assets_folder import ASSETS
from sequoia.errors import BadPrompt
from sequoia.text_files import load_json
from sequoia.validate_input import read_each

# not 0: at 0 the bundled pair soon repeats itself, which flatters speculative decoding
TEMPERATURE = 0.6
FILE = ASSETS / "prompts.json"
CODE = "code"
PROSE = "prose"
_SURELY_CODE = re.compile(
    r"""^\s*(?:
        (?:async\s+)?def\s+\w+\( | class\s+\w+\s*[:({] | import\s+[\w.]+\s*(?:$|as\b|;)
        | from\s+[\w.]+\s+import\b | function\b.*\( | (?:const|let|var)\s+\w+\s*=
        | \#include\b | @\w+ | // | /\* | \"{3} | SELECT\b )""",
    re.VERBOSE,
)
_LIKE_CODE = re.compile(
    r"""^\s*[\w.\[\]"']+\s*(?:=|:=|\+=|->)\s*\S
        | [;{}]\s*$
        | ^\s*[\w.]+\(.*\)\s*:?$
        | ^\s*["'.\w]+\s*:\s*\S.*,$""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Preset:
    """A prompt and its name. The name of an example prompt is the label of its button."""

    name: str
    text: str


_ANYWAY = Preset("code", "def mean(values):\n    ")  # used if no prompt in the file is valid


def require_length(prompt: str, most: int, subject: str = "the prompt has") -> None:
    """Raises BadPrompt if `prompt` has over `most` characters. subject: how the message begins."""
    if len(prompt) > most:
        raise BadPrompt(f"{subject} {len(prompt)} characters; the limit is {most}")


def presets() -> tuple[Preset, ...]:
    """All presets, in the order of the file. Damaged entries, or a damaged file, are skipped. The
    result is never empty, because its first preset is the default prompt."""
    return read_each([(FILE.name, FILE)], _sound_prompts).get(FILE.name) or (_ANYWAY,)


def read_prompts(path: Path) -> tuple[Preset, ...]:
    """All presets of the file at `path`. Raises LookupError, TypeError or ValueError if an entry or
    the file is damaged, and OSError if the file cannot be read."""
    return tuple(map(_preset, load_json(path)["prompts"]))


def _sound_prompts(path: Path) -> tuple[Preset, ...]:
    entries = enumerate(load_json(path)["prompts"], 1)
    named = ((f"prompt {i} of {path.name}", entry) for i, entry in entries)
    return tuple(read_each(named, _preset).values())


def _preset(entry: Any) -> Preset:
    preset = Preset(**entry)
    if not isinstance(preset.name, str) or not isinstance(preset.text, str):
        raise TypeError("name and text must be strings")
    return preset


@cache
def surveyed_texts(kind: str) -> frozenset[str]:
    """The texts of `kind`, such as "code", on which the bundled pair's recorded acceptance was
    counted. White space at either end is removed. Empty if there is no file for `kind`."""
    path = ASSETS / "survey" / f"{kind}.json"
    return frozenset(map(str.strip, load_json(path))) if path.is_file() else frozenset()


def prompt_kind(text: str) -> str:
    """CODE or PROSE. A text is code if any line is surely code, or if at least a third of its
    lines look like code. Blank lines do not count."""
    lines = [line for line in text.splitlines() if line.strip()]
    if any(map(_SURELY_CODE.match, lines)):
        return CODE
    alike = sum(bool(_LIKE_CODE.search(line)) for line in lines)
    return CODE if alike and 3 * alike >= len(lines) else PROSE
