"""The findings of the recorded experiments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sequoia.assets_folder import ASSETS
from sequoia.text_files import load_json
from sequoia.validate_input import read_each

FOLDER = ASSETS / "experiments"


@dataclass(frozen=True)
class Finding:
    """The answer to an experiment's question. source: where the numbers come from, such as
    "simulated"."""

    answer: str
    source: str


@cache
def findings() -> dict[str, Finding]:
    """The findings of all recorded experiments by name. A damaged file is skipped."""
    return read_each(((path.stem, path) for path in sorted(FOLDER.glob("*.json"))), _finding)


def _finding(path: Path) -> Finding:
    data = load_json(path)
    answer, *_ = str(data["finding"]).splitlines() or [""]
    return Finding(answer, str(data["source"]))
