"""Where Plotly's script lies: served by Gradio itself, as a file that anyone may read."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import plotly

_SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def served() -> str:
    """Let the page serve the script, and give its address relative to the page."""
    gr.set_static_paths([_SCRIPT])
    return f"gradio_api/file={_SCRIPT}"
