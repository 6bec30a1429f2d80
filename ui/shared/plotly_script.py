"""The address of Plotly's script, which Gradio serves as a public file."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import plotly

_SCRIPT = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def served() -> str:
    """Let Gradio serve the script. Returns its address relative to the page."""
    gr.set_static_paths([_SCRIPT])
    return f"gradio_api/file={_SCRIPT}"
