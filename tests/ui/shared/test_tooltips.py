"""The names in `TOOLTIPS["..."]` and the "button ..." names in scripts are in tooltips.json, and no
explanation there is unused."""

from __future__ import annotations

import json
import re

from sequoia.assets_folder import ASSETS
from ui.shared.join_modules import UI, modules

TOOLTIPS = json.loads((ASSETS / "tooltips.json").read_text(encoding="utf-8"))
FILES = [*modules(), *UI.glob("*/*.py")]
SCRIPTS = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
BY_NAME = re.compile(r'TOOLTIPS\["([^"]+)"\]|: "(button [^"]+)"|report\.term\([^,]+, "([^"]+)"')
# starts of names that scripts put together from two parts, such as "why " + "ratio"
MADE = ("why ", "way ", "shape ", "button edit by ")


def test_every_requested_name_is_explained() -> None:
    asked = {name for pair in BY_NAME.findall(SCRIPTS) for name in pair if name}
    assert len(asked) > 20
    assert asked <= set(TOOLTIPS)


def test_no_explanation_is_unused() -> None:
    every = SCRIPTS.lower()
    shown = [name for name in TOOLTIPS if not name.startswith(MADE)]
    assert [name for name in shown if not any(f'"{one}"' in every for one in forms(name))] == []


def forms(name: str) -> set[str]:
    """What a script may contain for `name`. Case is ignored, and "button " may be left out."""
    return {name.lower(), name.lower().removeprefix("button ")}
