"""The messages of a run leave out no step, and contain each tree and each token's text once. The
meta of a run file is not trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from sequoia import Run
from sequoia.errors import BadTrace
from ui.run.decode_job import DecodeJob
from ui.run.messages import notice_message
from ui.run.meta import recorded


def held(texts: list[str]) -> dict[str, Any]:
    """What a reader has after all messages of one run. Fails if a step is missing, or if a tree or
    a token's text is repeated."""
    run: dict[str, Any] = {"trees": [], "pieces": {}, "steps": [], "meta": None}
    for message in map(json.loads, texts):
        if "run" not in message:
            continue
        assert run.setdefault("run", message["run"]) == message["run"]
        assert message["from"] == len(run["steps"])
        run["meta"] = message.get("meta", run["meta"])
        assert not run["pieces"].keys() & message.get("pieces", {}).keys()
        for tree in message.get("trees", []):
            assert tree not in run["trees"]
            run["trees"].append(tree)
        run["pieces"] |= message.get("pieces", {})
        run["steps"] += message["steps"]
        run["last"] = message
    return run


def test_batches_add_up_to_the_recorded_run(make: Callable[..., DecodeJob]) -> None:
    """Guards against steps lost, doubled or out of order between two messages."""
    live = make(max_new_tokens=60)
    live.start(None)
    run = held(list(live.messages()))
    file = json.loads(live.recording.log().lanes[0].run.to_json())
    assert run["steps"] == file["steps"]
    assert run["trees"] == file["trees"]
    assert run["pieces"] == file["pieces"]
    assert run["last"]["done"] is True
    assert sum(len(step["emitted"]) for step in run["steps"]) == 60


def test_many_fast_steps_share_few_messages(make: Callable[..., DecodeJob]) -> None:
    """Guards against one message per step. Tiny models make hundreds of steps a second, more than
    a browser can paint."""
    live = make(max_new_tokens=200)
    live.start(None)
    sizes = [len(json.loads(text).get("steps", [])) for text in live.messages()]
    assert max(sizes) > 1


def test_a_notice_names_no_run_so_that_the_run_on_screen_stays() -> None:
    message = json.loads(notice_message(error="no"))
    assert "run" not in message
    assert message["error"] == "no"


WRONG_META: dict[str, Any] = {
    "label": "certain",
    "target": 7,
    "prompt": "x" * 10**6,
    "params": {"temperature": "<b>"},
    "acceptance": [1, "x"],
    "versions": {"a": {"b": []}},
    "tree": {"request": [["best"]]},
    "unknown": {"a": [1] * 100},
}


@pytest.mark.parametrize("field", WRONG_META)
def test_a_file_with_a_wrong_description_is_refused_by_the_name_of_its_field(
    make: Callable[..., DecodeJob], field: str
) -> None:
    live = make(max_new_tokens=4)
    live.start(None)
    list(live.messages())
    data = live.recording.log().lanes[0].run.to_dict()
    data["meta"][field] = WRONG_META[field]
    with pytest.raises(BadTrace, match=rf"^meta\.{field}") as caught:
        Run.from_json(json.dumps(data))
    assert len(str(caught.value)) < 300


def test_a_file_cannot_choose_how_its_clock_is_described() -> None:
    meta = {"label": "simulated", "clock": "my card", "clock_machine": "the fastest machine"}
    assert recorded(meta)["clock_machine"] == "“my card”"
