"""What the browser draws into: the outline of the Decode view, and the header. No values and no
logic.

Templates are static: whatever comes from a model or a visitor reaches the page as data and
is put there as text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from ui.shared.call_modules import connect
from ui.shared.join_modules import UI

# The outline of the view, shown until its first message is there.
SKELETON = (
    '<div class="sq-stage"><div class="sq-skeleton" aria-hidden="true"><i></i><i></i><i></i>'
    "<div><i></i><i></i><i></i><i></i></div></div></div>"
)
HEADER = UI / "shared" / "web" / "header.html"


def header(status: Callable[[], str] | None = None) -> gr.HTML:
    """The strip at the top. Its value is {"stage", "words", "version"}, where loading stands, as
    JSON. `status` gives the newest one; without it, loading stands still once it is over. It says
    `select` when other models are there."""

    def get_status(_asked: Any) -> str:  # Gradio calls it with one value
        return status() if status else ""

    return gr.HTML(
        html_template=HEADER.read_text(encoding="utf-8"),
        apply_default_css=False,
        elem_id="pg-top",
        server_functions=[get_status] if status else [],
        js_on_load=connect("shared/page_header", ["select"], server=status is not None),
    )
