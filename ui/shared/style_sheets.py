"""The page's style sheets in order: the colours, the sheets of `ui/shared/web`, then those of each
view."""

from __future__ import annotations

from ui.shared import colours
from ui.shared.join_modules import UI


def css() -> str:
    """All sheets as one text of CSS."""
    return "\n".join(_texts())


def _texts() -> list[str]:
    views = sorted(UI.glob("*/web"), key=lambda folder: (folder.parent.name != "shared", folder))
    sheets = [sheet for folder in views for sheet in sorted(folder.rglob("*.css"))]
    return [colours.variables(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)]
