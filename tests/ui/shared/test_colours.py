"""All colours are defined in one file. Each CSS variable there has a light and a dark value."""

from __future__ import annotations

import json
import re
from functools import cache

from ui.shared import colours, join_modules

DATA = json.loads(colours.FILE.read_text(encoding="utf-8"))
COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3,4}){1,2}\b(?!-)|\brgba?\(\s*\d")
# Lines that contain one of these are allowed: full transparency and masks show no colour.
NO_COLOUR = ("rgba(0,0,0,0)", "mask-image")


@cache
def texts() -> dict[str, str]:
    found = [path for path in join_modules.UI.rglob("*") if path.suffix in (".css", ".js", ".py")]
    return {
        str(path.relative_to(join_modules.UI)): path.read_text(encoding="utf-8")
        for path in sorted(found)
    }


def colours_in(text: str) -> list[str]:
    return [
        line.strip()
        for line in text.splitlines()
        if COLOUR.search(line) and not any(word in line for word in NO_COLOUR)
    ]


def test_no_colour_is_defined_outside_the_file() -> None:
    found = {name: colours_in(re.sub(r"&#\d+;", "", text)) for name, text in texts().items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_variables_are_set_for_both_themes() -> None:
    light, dark = colours.variables().split(".dark")
    assert light.startswith(":root { --")
    for name, one in DATA["variables"].items():
        assert f"--{name}: {one['light']};" in light
        assert f"--{name}: {one['dark']};" in dark
