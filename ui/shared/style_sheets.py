"""The page's style sheets in order: the colours, the sheets of `ui/shared/web`, then those of each
view."""

from __future__ import annotations

from ui.shared import colours, markup
from ui.shared.join_modules import UI


def styles() -> str:
    """Style elements for the page's head. `launch(css=)` is not used: Gradio would insert the
    sheets twice. It would rewrite the selectors of the second copy, so that other rules would
    win."""
    return "\n".join(map(markup.style, _texts()))


def css() -> str:
    """All sheets as one text of CSS."""
    return "\n".join(_texts())


def _texts() -> list[str]:
    views = sorted(UI.glob("*/web"), key=lambda folder: (folder.parent.name != "shared", folder))
    sheets = [sheet for folder in views for sheet in sorted(folder.rglob("*.css"))]
    return [colours.variables(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)]
