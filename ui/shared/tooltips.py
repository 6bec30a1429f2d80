"""Explanations of the page's words and buttons. Data: assets/tooltips.json, by the name that the
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
    """A script that defines them; it must come before all others in the page's head."""
    return f"window.Sequoia = {{ tooltips: {markup.literal(tooltips())} }};"
