"""The list of what no card has measured names tests and commands that exist."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = json.loads((ROOT / "assets" / "not_yet_on_a_gpu.json").read_text("utf-8"))["unmeasured"]


def test_each_entry_says_how_to_find_out_and_what_happens_until_then() -> None:
    assert ENTRIES
    for entry in ENTRIES:
        assert set(entry) == {"what", "how", "guarded"}
        assert all(entry.values())
        for path in re.findall(r"tests/\S+\.py", entry["how"]):
            assert "pytest.mark.gpu" in (ROOT / path).read_text("utf-8")
        for command in re.findall(r"python -m (\S+)", entry["how"]):
            assert importlib.util.find_spec(command) is not None
