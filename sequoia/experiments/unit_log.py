"""The file of an experiment's finished units of work: a header line, then one line of JSON for each
unit."""

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
    """found: the results in the file when it was opened, by unit key. message: why an older file is
    not used, or ""."""

    path: Path
    found: Mapping[str, Any]
    message: str = ""

    @classmethod
    def open(cls, path: Path, header: Mapping[str, Any]) -> UnitLog:
        """The log at `path`. A file with another header is replaced. Damaged lines are removed,
        such as one that an interruption cut off."""
        first = json.dumps(as_file(header, FORMAT))
        lines = _whole_lines(path)
        if lines[:1] != [first]:
            message = _difference(lines[0], first) if lines else ""
            write_text(path, first + "\n")
            return cls(path, {}, message)
        kept = list(_readable(lines[1:]))
        write_text(path, "".join(f"{line}\n" for line in (first, *(text for text, _ in kept))))
        return cls(path, {entry["key"]: entry["found"] for _, entry in kept})

    def add(self, key: str, found: Mapping[str, Any]) -> Any:
        """Append the result of a finished unit. Returns `found` as a later run will read it back
        from the file, with tuples turned into lists."""
        line = json.dumps({"key": key, "found": found}, separators=(",", ":"))
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        return json.loads(line)["found"]


def _whole_lines(path: Path) -> list[str]:
    """The lines that end in a line break; a last line without one was cut off."""
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
        is_result = isinstance(entry, dict) and entry.keys() == {"key", "found"}
        if is_result and isinstance(entry["key"], str):
            yield line, entry


def _difference(line: str, first: str) -> str:
    """The message for a file whose header is `line` instead of `first`. It names the fields that
    differ."""
    wanted = json.loads(first)
    try:
        older = json.loads(line)
        other = [name for name in wanted | older if older.get(name, ...) != wanted.get(name, ...)]
    except (ValueError, TypeError):
        other = []
    if not other:
        return "The file of saved parts is damaged. Starting over."
    return (
        "The saved parts cannot be reused. They differ from this run in: "
        f"{', '.join(other)}. Starting over."
    )
