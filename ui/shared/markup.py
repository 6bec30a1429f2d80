"""The only place where Python makes markup. Independent of the page and of runs.

Gradio renders the text of its pop-up messages as HTML, and that text may contain what a visitor
typed.
"""

from __future__ import annotations

import html
import json
import unicodedata
from typing import Any

MAX_MESSAGE = 400
# control, format (bidi), surrogates, unassigned, line separators
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str) -> str:
    """`text` with each character that hides or reorders others replaced by its code."""
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.category(c) in _UNSEEN and c != "\n" else c for c in text
    )


def toast(text: Any) -> str:
    """Markup for a pop-up message that shows `text` literally, shortened. Braces and dollars are
    escaped so that no template language interprets them."""
    text = str(text)
    short = text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"
    escaped = html.escape(visible(short), quote=True).replace("\n", "<br>")
    return (
        escaped.replace("{", "&#123;")
        .replace("}", "&#125;")
        .replace("$", "&#36;")
        .replace("`", "&#96;")
    )


def plotly_text(text: str) -> str:
    """`text` for Plotly, which shows a few tags and links in names and hover texts, as it is."""
    return html.escape(visible(text), quote=False)


def error_banner(text: Any) -> str:
    """Markup that shows `text` literally as an error, which screen readers announce."""
    return (
        '<div class="sq-stage"><p class="sq-banner sq-banner-error" role="alert">'
        f"{toast(text)}</p></div>"
    )


def style(source: str) -> str:
    """A style element; in CSS no text of ours holds a closing tag, and one that did
    would be cut off here."""
    return "<style>\n" + source.replace("</", "<\\/") + "\n</style>"


def literal(value: Any) -> str:
    """`value` as a JavaScript literal that can stand anywhere in a script."""
    return (
        json.dumps(value)
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
