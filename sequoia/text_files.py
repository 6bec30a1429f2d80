"""Reads JSON files and writes text files, in UTF-8. For untrusted files see
sequoia/loading/model_files.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sequoia.errors import SequoiaError


def load_json(path: Path) -> Any:
    """The value in the JSON file at `path`. Raises OSError or ValueError."""
    return json.loads(path.read_text(encoding="utf-8-sig"))


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`. Creates the folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """A context in which `path` is written. It turns an OSError into a SequoiaError that names the
    path."""
    try:
        yield
    except OSError as problem:
        raise SequoiaError(f"{path} cannot be written ({problem.strerror or problem})") from None


def require_writable(path: Path) -> None:
    """Raises a SequoiaError if `path` cannot be written. Creates the folder of `path` if needed."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not path.exists()
        path.open("ab").close()
        if is_new:
            path.unlink()
