"""The page's style sheets in order: the colours, the sheets of `ui/shared/web`, then those of each
view."""

from __future__ import annotations

from ui.shared import colours, markup
from ui.shared.join_modules import UI


def styles() -> str:
    """Style elements for the page's head. `launch(css=)` is not used, because Gradio would insert
    the sheets twice, the second time with every selector rewritten, so other rules would win."""
    return "\n".join(map(markup.style, _texts()))


def css() -> str:
    """All sheets as one text of CSS."""
    return "\n".join(_texts())


def _texts() -> list[str]:
    """The CSS of the colours and of each sheet."""
    views = sorted(UI.glob("*/web"), key=lambda folder: (folder.parent.name != "shared", folder))
    sheets = [sheet for folder in views for sheet in sorted(folder.rglob("*.css"))]
    return [colours.variables(), *(sheet.read_text(encoding="utf-8") for sheet in sheets)]
