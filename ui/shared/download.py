"""The file of a download button. Nothing about it is checked here: the text is the server's own."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder

from ui.shared import markup


def download(text: str, name: str) -> dict[str, Any]:
    """The update of a download button for a file with this text, in the temporary folder. If it
    cannot be written, for instance as the disk is full, the button is off and a message says
    why."""
    try:
        # where Gradio would copy it to; the folder is named by the content
        path = save_bytes_to_cache(text.encode(), name, get_upload_folder())
    except OSError as problem:
        words = f"{name} cannot be saved: {problem.strerror}. Everything else still works."
        gr.Warning(markup.toast(words), duration=7)
        return gr.update(interactive=False)
    return gr.update(value=path, interactive=True)
