"""Makes HTML. All untrusted text that Python puts into HTML is escaped in this module.

Gradio renders the text of its pop-up messages as HTML. That text may contain what a visitor typed.
"""

from __future__ import annotations

import csv
import html
import io
import json
import unicodedata
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

MAX_MESSAGE = 400
# Unicode categories: control, format (such as bidi controls), surrogate, private use, unassigned,
# line and paragraph separators
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str) -> str:
    """`text` with each character of the categories in _UNSEEN replaced by its code, except line
    feeds. Such characters are invisible or change the order of the characters around them."""
    return "".join(
        f"\\u{ord(c):04x}" if unicodedata.category(c) in _UNSEEN and c != "\n" else c for c in text
    )


def toast(text: Any) -> str:
    """HTML for a pop-up message that shows `text` literally, cut to MAX_MESSAGE characters. Braces,
    dollar signs and backquotes are escaped, so that no template language interprets them."""
    text = str(text)
    short = text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"
    return _inert(html.escape(visible(short), quote=True).replace("\n", "<br>"))


def _inert(escaped: str) -> str:
    """`escaped` with the characters that template languages interpret escaped too."""
    return (
        escaped.replace("{", "&#123;")
        .replace("}", "&#125;")
        .replace("$", "&#36;")
        .replace("`", "&#96;")
    )


class Markup(str):
    """Text that is HTML already, so it is not escaped again."""


def element(tag: str, *children: str | None, **attributes: object) -> Markup:
    """An HTML element. A child that is not Markup is shown literally; None is skipped.
    attributes: `data_label` is written as data-label, `class_` as class. An attribute whose value
    is None or False is skipped; one whose value is True is written without a value."""
    named = "".join(_attribute(name, value) for name, value in attributes.items())
    inner = "".join(child if isinstance(child, Markup) else _literal(child) for child in children)
    return Markup(f"<{tag}{named}>{inner}</{tag}>")


def csv_link(name: str, rows: Iterable[Iterable[object]], words: str = "CSV") -> Markup:
    """A link that downloads a table as a CSV file (RFC 4180). name: of the file, without
    "sequoia-" and the suffix."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    address = f"data:text/csv;charset=utf-8,{quote(text.getvalue())}"
    return element("a", words, href=address, download=f"sequoia-{name}.csv", class_="sq-btn")


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{_literal(str(value))}"'


def _literal(text: str | None) -> str:
    return _inert(html.escape(visible(text or ""), quote=True))


def plotly_text(text: str) -> str:
    """`text` escaped so that Plotly shows it literally. Otherwise Plotly would interpret a few tags
    and links in names and hover texts."""
    return html.escape(visible(text), quote=False)


def error_banner(text: Any) -> str:
    """HTML that shows `text` as an error, literally and cut as by `toast`. Screen readers announce
    it."""
    return (
        '<div class="sq-stage"><p class="sq-banner sq-banner-error" role="alert">'
        f"{toast(text)}</p></div>"
    )


def literal(value: Any) -> str:
    """`value` as a JavaScript literal that is safe in any script, including one inside HTML."""
    return (
        json.dumps(value)
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
