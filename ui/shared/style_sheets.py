"""The page's style sheets: the colours, those of `ui/shared/web`, then those of each view."""

from __future__ import annotations

from ui.shared import colours, markup
from ui.shared.join_modules import UI


def styles() -> str:
    """Style elements for the page's head. Sheets given to `launch(css=)` would come twice, the
    second time with every selector rewritten, which changes what wins."""
    views = sorted(UI.glob("*/web"), key=lambda folder: (folder.parent.name != "shared", folder))
    sheets = [sheet for folder in views for sheet in sorted(folder.rglob("*.css"))]
    texts = [colours.variables(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)]
    return "\n".join(map(markup.style, texts))
