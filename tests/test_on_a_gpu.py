"""assets/on_a_gpu.json lists what was tested on a real GPU and what was not. The test
files and commands that it names must exist."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIST = json.loads((ROOT / "assets" / "on_a_gpu.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("part", "last"), [("tested", "found"), ("unmeasured", "guarded")], ids=["tested", "unmeasured"]
)
def test_each_entry_says_what_and_how(part: str, last: str) -> None:
    assert LIST[part]
    for entry in LIST[part]:
        assert set(entry) == {"what", "how", last}
        assert all(entry.values())
        for path in re.findall(r"tests/\S+\.py", entry["how"]):
            assert "pytest.mark.gpu" in (ROOT / path).read_text("utf-8")
        for command in re.findall(r"python -m ([\w.]+)", entry["how"]):
            assert importlib.util.find_spec(command) is not None
