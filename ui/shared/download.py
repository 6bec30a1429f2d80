"""The file behind a download button. Its text is not validated, because the server wrote it."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder

from ui.shared import markup


def download(text: str, name: str) -> dict[str, Any]:
    """Write `text` to a temporary file called `name`, and return the update that makes a button
    download it. If writing fails, for instance because the disk is full, the update disables the
    button and a warning gives the reason."""
    try:
        # the folder Gradio would copy the file to, named by a hash of the content
        path = save_bytes_to_cache(text.encode(), name, get_upload_folder())
    except OSError as problem:
        words = f"{name} cannot be saved: {problem.strerror}. Everything else still works."
        gr.Warning(markup.toast(words), duration=7)
        return gr.update(interactive=False)
    return gr.update(value=path, interactive=True)
