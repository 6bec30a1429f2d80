"""The file of a download button. Nothing about it is checked here: the text is the server's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
from gradio.processing_utils import hash_bytes, save_bytes_to_cache
from gradio.utils import get_upload_folder

from ui.shared import markup


def download(text: str, name: str) -> dict[str, Any]:
    """The update of a download button for a file with this text, in the temporary folder. If it
    cannot be written, for instance as the disk is full, the button is off and a message says
    why."""
    try:
        path = _written(text.encode(), name)
    except OSError as problem:
        words = f"{name} cannot be saved: {problem.strerror}. Everything else still works."
        gr.Warning(markup.toast(words), duration=7)
        return gr.update(interactive=False)
    return gr.update(value=path, interactive=True)


def _written(data: bytes, name: str) -> str:
    """The path of a file with this content, where Gradio would copy it to: the folder is named by
    the content. A file that is there already is not written again."""
    path = Path(get_upload_folder(), hash_bytes(data), name)
    if not path.exists():
        return save_bytes_to_cache(data, name, get_upload_folder())
    path.touch()  # the oldest files are removed first
    return str(path.resolve())
