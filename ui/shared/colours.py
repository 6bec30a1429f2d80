"""All colours of the page, from assets/colours.json and the records of the verifiers: as CSS
variables and as values of the Gradio theme."""

from __future__ import annotations

from functools import cache
from typing import Any

from sequoia.algorithm.verifiers import RULES
from sequoia.assets_folder import ASSETS
from sequoia.text_files import load_json

FILE = ASSETS / "colours.json"


@cache
def _colours() -> dict[str, dict[str, Any]]:
    return load_json(FILE)


def variables() -> str:
    """CSS that defines the colours under "variables" in the file and those of verifiers, such as
    --race-sequoia, for the light and dark theme."""
    modes = ("light", "dark")
    rules = {f"race-{rule.key}": dict(zip(modes, rule.colour, strict=True)) for rule in RULES}
    blocks = {
        selector: " ".join(
            f"--{name}: {one[mode]};" for name, one in {**_colours()["variables"], **rules}.items()
        )
        for selector, mode in zip((":root", ".dark"), modes, strict=True)
    }
    return "\n".join(f"{selector} {{ {text} }}" for selector, text in blocks.items())


def theme_values() -> dict[str, str]:
    """The colours of Gradio's own components, as keyword arguments of a theme's `set`."""
    suffixes = {"light": "", "dark": "_dark"}
    return {
        name + suffixes[mode]: colour
        for name, modes in _colours()["page"].items()
        for mode, colour in modes.items()
    }
