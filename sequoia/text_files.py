"""Text and JSON files of the program itself and of its commands, in UTF-8. For files that must not
be trusted see sequoia/loading/json_file.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def load_json(path: Path) -> Any:
    """The value in the JSON file at `path`. Raises OSError or ValueError."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path`, whose folder is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
