"""The file behind a download button. Its text is not validated, because the server wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from gradio.processing_utils import hash_bytes, save_bytes_to_cache
from gradio.utils import get_upload_folder

from ui.shared import markup


def download(text: str, name: str) -> dict[str, Any]:
    """Write `text` to a temporary file called `name`, and return the update that makes a button
    download it. If writing fails, for instance because the disk is full, the update disables the
    button instead, and a warning gives the reason."""
    try:
        path = _written(text.encode(), name)
    except OSError as problem:
        words = f"{name} cannot be saved: {problem.strerror}. Everything else still works."
        gr.Warning(markup.toast(words), duration=7)
        return gr.update(interactive=False)
    return gr.update(value=path, interactive=True)


def _written(data: bytes, name: str) -> str:
    """Write the file to the place that Gradio would copy it to: a folder named by a hash of the
    content. Returns the path. A file that already exists is not written again."""
    path = Path(get_upload_folder(), hash_bytes(data), name)
    if not path.exists():
        return save_bytes_to_cache(data, name, get_upload_folder())
    path.touch()  # Gradio removes old files
    return str(path.resolve())
