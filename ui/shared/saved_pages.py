"""The HTML of a saved page: one file with its scripts, styles and data. The browser fills the
template in when a visitor saves what is on screen, Python when a notebook shows a run.

The page shows data of others, so a policy lets only its own script run, and nothing be loaded.
"""

from __future__ import annotations

import base64
import gzip
import html
import re
import secrets
from functools import cache
from typing import Any

from sequoia.validate_input import json_text
from ui.shared.join_modules import css, join, saved_pages

# Names of what is filled in, each between two "@@": the title, as HTML; the packed data; a nonce,
# which are letters and digits that nobody can guess.
_GAPS = re.compile("@@(title|data|nonce)@@")
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'nonce-@@nonce@@'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)


@cache
def template(view: str) -> str:
    """The page of a view with a module `saved_page`, with gaps for its contents."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>@@title@@</title>
<link rel="icon" href="data:,">
<style>
{in_style(css())}
</style>
</head>
<body class="saved-page">
<header class="saved-head sq-ends">
<div><h1>@@title@@</h1></div>
<button type="button" class="saved-theme" hidden>Light or dark</button>
</header>
<main class="saved-main"><div class="sq-stage">
<noscript><p>This page needs JavaScript.</p></noscript>
</div></main>
<script type="text/plain" id="saved-data">@@data@@</script>
<script type="module" nonce="@@nonce@@">
{in_script(join([saved_pages()[view]]))}
modules["{view}/saved_page"].openPage();
</script>
</body>
</html>
"""


def in_script(source: str) -> str:
    """JavaScript that can stand in a script element. "</script" ends a script, even inside a
    string. But if "<!--" and then "<script" come before it, the browser skips it. A backslash after
    the "<" prevents both cases. It does not change the meaning of a string, or of a regular
    expression without the flags u and v."""
    return re.sub(r"<(?=/script|!--)", r"<\\", source, flags=re.IGNORECASE)


def in_style(sheet: str) -> str:
    """CSS that can stand in a style element, which "</style" ends even inside a string. In a CSS
    string, "\\2f " is a slash."""
    return re.sub(r"</(?=style)", r"<\\2f ", sheet, flags=re.IGNORECASE)


def page(view: str, title: str, data: Any) -> str:
    """The page of a view. data: passed to its module `saved_page`, as JSON values."""
    parts = {
        "title": html.escape(title),
        "data": _packed({"data": data}),
        "nonce": secrets.token_hex(16),
    }
    return _GAPS.sub(lambda gap: parts[gap[1]], template(view))


def _packed(value: Any) -> str:
    """As `pack` in ui/shared/web/packed_data.js."""
    return base64.b64encode(gzip.compress(json_text(value).encode())).decode()
