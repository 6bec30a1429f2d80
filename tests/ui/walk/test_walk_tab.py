"""The two requests of the Walk tab."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ui.run import recordings
from ui.walk.tab import WalkTab


def test_every_listed_run_can_be_asked_for() -> None:
    listed = json.loads(WalkTab().list_recorded_runs())["runs"]
    assert [one["name"] for one in listed] == list(recordings.shipped())
    for one in listed:
        run = json.loads(WalkTab().get_recorded_run(one["name"]))
        assert all(run[part] for part in ("steps", "trees", "pieces"))
        assert run["meta"]["label"] in ("recorded", "simulated")


@pytest.mark.parametrize("asked", [None, "", 7, [], {}, "../pair/config", "code.json", "x" * 9999])
def test_a_run_that_is_not_listed_is_refused_in_words(asked: Any) -> None:
    answer = json.loads(WalkTab().get_recorded_run(asked))
    assert list(answer) == ["error"]
    assert "there is no example" in answer["error"]
    assert len(answer["error"]) < 400
