"""The text of an uploaded file of any format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sequoia import SequoiaError
from sequoia.validate_input import shown


def uploaded_text(path: Any, most: int, kind: str, error: type[SequoiaError]) -> str:
    """The text of the file at `path`, which should be a `kind` of at most `most` bytes. Raises
    `error` with a reason that can be shown to the visitor."""
    check_upload(path, most, kind, error)
    try:
        return Path(path).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise error(f"not a {kind}: the file is not UTF-8 text") from None
    except OSError:
        raise error("the file could not be read") from None


def check_upload(path: Any, most: int, kind: str, error: type[SequoiaError]) -> int:
    """The size of the file at `path` in bytes. Raises as `uploaded_text` does."""
    if not isinstance(path, str):
        raise error(f"no file was uploaded: expected one, not {shown(path)}")
    try:
        size = Path(path).stat().st_size
    except (OSError, ValueError):  # ValueError: a name that no file can have
        raise error("the file could not be read") from None
    if size > most:
        raise error(
            f"the file has {size / 1e6:.3g} MB; a {kind} may have up to {most / 1e6:.3g} MB"
        )
    return size
