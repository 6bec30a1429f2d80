"""What the browser is given: the stage of ui/canvas, the header, and all scripts and styles. No
values and no logic.

Templates are static: whatever comes from a model or a visitor reaches the page as data and
is put there as text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from ui.shared import markup, tooltips
from ui.shared.theme import FOLDER
from ui.shared.web_folder import WEB as CANVAS

# Each adds to the one name `Sequoia`; a file stands after those it uses while it loads.
SCRIPTS = (
    "glyphs.js",
    "dom.js",
    "pictures.js",
    "board.js",
    "tooltips.js",
    "fields.js",
    "layout.js",
    "frame.js",
    "words.js",
    "repeats.js",
    "view.js",
    "store.js",
    "about.js",
    "totals.js",
    "textview.js",
    "nodes.js",
    "minimap.js",
    "treepicture.js",
    "treetools.js",
    "pan.js",
    "treehands.js",
    "treeview.js",
    "inspector.js",
    "scrubber.js",
    "bars.js",
    "keys.js",
    "stage.js",
)


def head() -> str:
    """Style sheets and scripts, for the page's head. Sheets given to `launch(css=)` would come
    twice, the second time with every selector rewritten, which changes what wins."""
    sheets = [*sorted(CANVAS.glob("*.css")), FOLDER / "page.css"]
    sources = [*(CANVAS / name for name in SCRIPTS), FOLDER / "page.js"]
    return "\n".join(
        [
            *(markup.style(_text(sheet)) for sheet in sheets),
            markup.script(tooltips.script()),
            *(markup.script(_text(source)) for source in sources),
        ]
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def stage(steps_since: Callable[[Any], str]) -> gr.HTML:
    """The live view. Its value is a message (see messages.py); `steps_since([run, first])` gives
    steps a browser has missed."""

    def get_steps(asked: Any) -> str:  # Gradio marks the function, which a method would not allow
        return steps_since(asked)

    return gr.HTML(
        html_template='<div class="sq-stage"></div>',
        apply_default_css=False,
        elem_id="pg-view",
        elem_classes="pg-view",
        server_functions=[get_steps],
        js_on_load=(
            "const asks = {come: () => trigger('come'), take: (meta) => trigger('take', meta)};"
            "SequoiaPage.stage(element, props, watch, (name, data) => asks[name](data), server);"
        ),
    )


def header(status: Callable[[], str] | None = None) -> gr.HTML:
    """The strip at the top. Its value is {"stage", "words", "version"}, where loading stands, as
    JSON. `status` gives the newest one; without it, loading stands still once it is over. It says
    `select` when other models are there."""

    def get_status(_asked: Any) -> str:  # Gradio calls it with one value
        return status() if status else ""

    return gr.HTML(
        html_template=_text(FOLDER / "header.html"),
        apply_default_css=False,
        elem_id="pg-top",
        server_functions=[get_status] if status else [],
        js_on_load="SequoiaPage.header(element, props, watch, () => trigger('select'), "
        f"{'server.get_status' if status else 'null'});",
    )
