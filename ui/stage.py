"""What the browser is given: the stage of ui/canvas with its scripts and styles, and the header. No values and no logic.

Templates are static: whatever comes from a model or a visitor reaches the page as data and is put there as text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr

from . import show
from .theme import FOLDER, page_css

CANVAS = Path(__file__).resolve().parent / "canvas"
# Each adds to the one name `Sequoia`; a file stands after those it uses while it loads.
SCRIPTS = ("glyphs.js", "dom.js", "layout.js", "frame.js", "words.js", "view.js", "store.js", "totals.js", "textview.js",
           "nodes.js", "minimap.js", "treetools.js", "treeview.js", "inspector.js", "scrubber.js", "bars.js", "keys.js",
           "stage.js")


def head() -> str:
    """The scripts, for the page's head."""
    sources = [*(CANVAS / name for name in SCRIPTS), FOLDER / "page.js"]
    return "\n".join(show.script(source.read_text(encoding="utf-8")) for source in sources)


def css() -> str:
    """All style sheets."""
    sheets = [path.read_text(encoding="utf-8") for path in sorted(CANVAS.glob("*.css"))]
    return "\n".join([*sheets, page_css()])


def stage(steps_since: Callable[[Any], str]) -> gr.HTML:
    """The live view. Its value is a message (see messages.py); `steps_since([run, first])` gives steps a browser has missed."""

    def get_steps(asked: Any) -> str:  # Gradio marks the function, which a method would not allow
        return steps_since(asked)

    return gr.HTML(html_template='<div class="sq-stage"></div>', apply_default_css=False, elem_id="pg-view",
                   js_on_load="SequoiaPage.stage(element, props, watch, trigger, server);", server_functions=[get_steps])


def header() -> gr.HTML:
    """The strip at the top. Its value is {"stage", "words"}, where loading stands, as JSON."""
    return gr.HTML(html_template=(FOLDER / "header.html").read_text(encoding="utf-8"), apply_default_css=False,
                   elem_id="pg-top", js_on_load="SequoiaPage.header(element, props, watch);")
