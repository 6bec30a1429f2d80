"""Reads JSON files and writes text files, in UTF-8. For untrusted files see
sequoia/loading/json_file.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load_json(path: Path) -> Any:
    """The value in the JSON file at `path`. Raises OSError or ValueError."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`. Creates the folder if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
