"""Reads a list of prompts: a bundled list, given by its name, or a JSON file."""

from __future__ import annotations

from pathlib import Path

from sequoia.errors import SequoiaError
from sequoia.text_files import load_json


def text_list(name: str, folder: Path) -> list[str]:
    """The texts in `folder`/`name`.json or, if there is no such file, in the JSON file `name`.
    Raises SequoiaError unless the file contains a list of at least one text."""
    bundled = folder / f"{name}.json"
    path = bundled if bundled.is_file() else Path(name)
    try:
        texts = load_json(path)
    except (OSError, ValueError) as problem:
        known = ", ".join(sorted(file.stem for file in folder.glob("*.json")))
        raise SequoiaError(
            f"--prompts {name!r} is neither a bundled list ({known}) nor a JSON file with a list "
            f"of texts: {problem}"
        ) from None
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise SequoiaError(f"{path} must contain a JSON list of at least one text")
    return texts
