"""The file of finished units: a header line, then one line of JSON for each unit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sequoia.text_files import write_text
from sequoia.validate_input import as_file

FORMAT = "experiment-units"


@dataclass(frozen=True)
class UnitLog:
    """found: the units that the file had. message: why an older file is not used, "" otherwise."""

    path: Path
    found: Mapping[str, Any]
    message: str = ""

    @classmethod
    def open(cls, path: Path, header: Mapping[str, Any]) -> UnitLog:
        """The log at `path`. A file of another run is replaced; a line that was cut off by an
        interruption is removed."""
        first = json.dumps(as_file(header, FORMAT))
        lines = _whole_lines(path)
        if lines[:1] != [first]:
            message = _difference(lines[0], header) if lines else ""
            write_text(path, first + "\n")
            return cls(path, {}, message)
        kept = list(_readable(lines[1:]))
        write_text(path, "".join(f"{line}\n" for line in (first, *(text for text, _ in kept))))
        return cls(path, {entry["key"]: entry["found"] for _, entry in kept})

    def add(self, key: str, found: Mapping[str, Any]) -> Any:
        """Write a finished unit. Returns what a later run will read."""
        line = json.dumps({"key": key, "found": found}, separators=(",", ":"))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return json.loads(line)["found"]


def _whole_lines(path: Path) -> list[str]:
    """The lines that have their line break."""
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8", errors="replace")
    return text[: text.rfind("\n") + 1].splitlines()


def _readable(lines: Iterable[str]) -> Iterable[tuple[str, Any]]:
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.keys() == {"key", "found"}:
            yield line, entry


def _difference(line: str, header: Mapping[str, Any]) -> str:
    """Which parts of the header differ, in words."""
    try:
        older = json.loads(line)
        other = [name for name, value in header.items() if older.get(name) != value]
    except (ValueError, AttributeError):
        return "The file of the earlier run is damaged; starting over."
    return f"The earlier run differs in: {', '.join(other)}. Starting over."
