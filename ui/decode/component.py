"""HTML that the page's JavaScript fills: the outline of the Decode view, and the page's header.

The templates are static. Text from a model or a visitor reaches the page as data, and the browser
inserts it as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from ui.shared.call_modules import connect
from ui.shared.join_modules import UI

# A grey outline of the view, shown until its first message arrives.
SKELETON = (
    '<div class="sq-stage"><div class="sq-skeleton" aria-hidden="true"><i></i><i></i><i></i>'
    "<div><i></i><i></i><i></i><i></i></div></div></div>"
)
HEADER = UI / "shared" / "web" / "header.html"


def header(status: Callable[[], str] | None = None) -> gr.HTML:
    """The strip at the top of the page. Its value is JSON: {"stage", "words", "version"}, the state
    of loading the models.

    status: returns the current value; None if no visitor can load models. The browser calls it
    every few seconds, because another visitor may load other models. The component triggers
    `select` when other models have been loaded."""

    def get_status(_asked: Any) -> str:  # Gradio passes one value
        return status() if status else ""

    return gr.HTML(
        html_template=HEADER.read_text(encoding="utf-8"),
        apply_default_css=False,
        elem_id="pg-top",
        server_functions=[get_status] if status else [],
        js_on_load=connect("shared/page_header", ["select"], server=status is not None),
    )
