"""The example prompts in assets/, the check of a prompt's length, the texts on which
acceptance was counted, the kind of a text, and the default temperature of the forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sequoia.assets_folder import ASSETS
from sequoia.errors import BadPrompt
from sequoia.text_files import load_json

# not 0: at 0 the bundled pair soon repeats itself, which flatters speculative decoding
TEMPERATURE = 0.6
FILE = ASSETS / "prompts.json"
OPENING_FILE = ASSETS / "opening_prompts.json"  # of which the bundled pair's film has one
CHAT_FILE = ASSETS / "bench" / "chat.json"  # questions, for models that answer chat messages
_CHAT_EXAMPLES = 6
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


def require_length(prompt: str, most: int, subject: str = "the prompt has") -> None:
    """Raises BadPrompt if `prompt` has over `most` characters. subject: how the message begins."""
    if len(prompt) > most:
        raise BadPrompt(f"{subject} {len(prompt)} characters; the limit is {most}")


def presets() -> tuple[Preset, ...]:
    """The example prompts, in the order of the file. The first is the default prompt."""
    return read_prompts(FILE)


def chat_presets() -> tuple[Preset, ...]:
    """As `presets`, for models that answer chat messages: the first of CHAT_FILE."""
    return read_prompts(CHAT_FILE)[:_CHAT_EXAMPLES]


def is_known(prompt: str, chat: bool) -> bool:
    """Whether `prompt` is an example or one of those that films are made of. chat: for models that
    answer chat messages."""
    files = [CHAT_FILE] if chat else [FILE, OPENING_FILE]
    return any(one.text == prompt for file in files for one in read_prompts(file))


def read_prompts(path: Path) -> tuple[Preset, ...]:
    """All presets of the file at `path`."""
    return tuple(Preset(**entry) for entry in load_json(path)["prompts"])


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
