"""The commands in this folder call handlers by their names. Guards against names that the page no
longer has: the commands would measure nothing."""

from __future__ import annotations

import json
from pathlib import Path

from others import HANDLER
from room_findings import JOBS
from room_visitors import STATE

ENDPOINTS = Path(__file__).resolve().parents[1] / "ui" / "endpoints.json"


def test_the_page_has_the_handlers_that_are_called() -> None:
    names = {one["name"] for one in json.loads(ENDPOINTS.read_text(encoding="utf-8"))}
    assert {*JOBS, HANDLER, STATE} <= names
