"""The types of the page's scripts are those of Python."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_types_of_the_scripts_are_made_from_the_present_types_of_python() -> None:
    """If not, run `PYTHONPATH=. python .ci/schema_types.py`."""
    made = runpy.run_path(str(ROOT / ".ci" / "schema_types.py"))
    assert made["FILE"].read_text(encoding="utf-8") == made["text"]()
