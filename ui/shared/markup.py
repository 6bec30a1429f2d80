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
    return _inert(html.escape(visible(short), quote=True).replace("\n", "<br>"))


def _inert(escaped: str) -> str:
    """Escaped text without the characters that a template language would interpret."""
    return (
        escaped.replace("{", "&#123;")
        .replace("}", "&#125;")
        .replace("$", "&#36;")
        .replace("`", "&#96;")
    )


class Markup(str):
    """Text that is markup already."""


def element(tag: str, *children: str | None, **attributes: object) -> Markup:
    """An HTML element. Children that are no Markup are shown literally; None is left out.
    attributes: `data_label` is data-label, `class_` is class; None and False leave one out, True
    gives it without a value."""
    named = "".join(_attribute(name, value) for name, value in attributes.items())
    inner = "".join(child if isinstance(child, Markup) else _literal(child) for child in children)
    return Markup(f"<{tag}{named}>{inner}</{tag}>")


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_literal(str(value))}"'


def _literal(text: str | None) -> str:
    return _inert(html.escape(visible(text or ""), quote=True))


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
