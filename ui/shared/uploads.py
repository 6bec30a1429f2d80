"""Reads an uploaded file of any format as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sequoia import SequoiaError
from sequoia.validate_input import shown
from ui.shared.json_worker import Refused, decoded


def uploaded_text(path: Any, most: int, kind: str, error: type[SequoiaError]) -> str:
    """The text of the file at `path`. Raises `error` if `path` is not a string, or if the file has
    more than `most` bytes, cannot be read, or is not UTF-8 text. The error's message can be shown
    to the visitor. kind: what the message calls such a file, for example "run file"."""
    check_upload(path, most, kind, error)
    try:
        return decoded(Path(path).read_bytes())
    except Refused as problem:
        raise error(f"not a {kind}: {problem}") from None
    except OSError:
        raise error("the file could not be read") from None


def check_upload(path: Any, most: int, kind: str, error: type[SequoiaError]) -> int:
    """The size in bytes of the file at `path`, found without reading the file. Raises `error` if
    `path` is not a string, or if the file has more than `most` bytes or cannot be found. kind: as
    in `uploaded_text`."""
    if not isinstance(path, str):
        raise error(f"no file was uploaded: expected a path, not {shown(path)}")
    try:
        size = Path(path).stat().st_size
    except (OSError, ValueError):  # ValueError: a path that no file can have
        raise error("the file could not be read") from None
    if size > most:
        raise error(f"the file has {size:,} bytes; a {kind} may have at most {most:,}")
    return size
