"""What words and buttons of the page mean. Data: assets/tooltips.json, by the name that the
scripts use."""

from __future__ import annotations

import json

from sequoia.assets_folder import ASSETS
from ui.shared import markup

FILE = ASSETS / "tooltips.json"


def tooltips() -> dict[str, str]:
    """All explanations by name."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def script() -> str:
    """Gives them to the scripts, which must stand after it in the page's head."""
    return f"window.Sequoia = {{ tooltips: {markup.literal(tooltips())} }};"
