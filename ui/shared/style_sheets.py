"""The page's style sheets: the colours, those of `ui/shared/web`, then those of each
view."""

from __future__ import annotations

from ui.shared import colours, markup
from ui.shared.join_modules import UI


def styles() -> str:
    """Style elements for the page's head. Sheets given to `launch(css=)` would come twice, the
    second time with every selector rewritten, which changes what wins."""
    return "\n".join(map(markup.style, _texts()))


def css() -> str:
    """The same as one style sheet."""
    return "\n".join(_texts())


def _texts() -> list[str]:
    """The colours, and every sheet."""
    views = sorted(UI.glob("*/web"), key=lambda folder: (folder.parent.name != "shared", folder))
    sheets = [sheet for folder in views for sheet in sorted(folder.rglob("*.css"))]
    return [colours.variables(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)]
