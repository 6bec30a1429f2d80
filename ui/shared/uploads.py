"""Reads an uploaded JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sequoia import SequoiaError
from sequoia.validate_input import read_json, shown


def uploaded_json(path: Any, most: int, name: str, error: type[SequoiaError]) -> dict[str, Any]:
    """The JSON object of format "sequoia-{name}" in the uploaded file at `path`. Raises `error`,
    with a reason for the visitor, if `path` is not a string, or if the file cannot be read, has
    more than `most` bytes, which is found without reading it, or has no such object."""
    if not isinstance(path, str):
        raise error(f"no file was uploaded: expected a path, not {shown(path)}")
    try:
        if (size := Path(path).stat().st_size) > most:
            raise error(f"the file has {size:,} bytes; a {name} file may have at most {most:,}")
        data = Path(path).read_bytes()
    except (OSError, ValueError):  # ValueError: a path that no file can have
        raise error("the file could not be read") from None
    return read_json(data, name, most, error)
