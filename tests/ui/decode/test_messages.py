"""The messages of a run leave out no step, and contain each tree and each token's text once. The
meta of a run file is not trusted."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from sequoia import Run
from ui.decode import messages
from ui.decode.run import DecodeJob


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
    live = make(tokens=60)
    live.start(None)
    run = held(list(live.messages()))
    file = json.loads(live.recording.run().to_json())
    assert run["steps"] == file["steps"]
    assert run["trees"] == file["trees"]
    assert run["pieces"] == file["pieces"]
    assert run["last"]["done"] is True
    assert sum(len(step["emitted"]) for step in run["steps"]) == 60


@pytest.mark.slow
def test_a_resumed_run_continues_without_a_gap(make: Callable[..., DecodeJob]) -> None:
    live = make(tokens=30)
    texts = []
    for steps in (1, 2, None):
        live.start(steps)
        texts += live.messages()
    run = held(texts)
    assert [step["i"] for step in run["steps"]] == list(range(len(run["steps"])))
    assert sum(len(step["emitted"]) for step in run["steps"]) == 30


@pytest.mark.slow
def test_many_fast_steps_share_few_messages(make: Callable[..., DecodeJob]) -> None:
    """Guards against one message per step. Tiny models make hundreds of steps a second, more than
    a browser can paint."""
    live = make(tokens=200)
    live.start(None)
    sizes = [len(json.loads(text).get("steps", [])) for text in live.messages()]
    assert max(sizes) > 3


def test_a_notice_names_no_run_so_that_the_run_on_screen_stays() -> None:
    message = json.loads(messages.notice_message(error="no"))
    assert "run" not in message
    assert message["error"] == "no"


def test_since_gives_the_missing_steps_with_everything_they_refer_to(
    make: Callable[..., DecodeJob],
) -> None:
    live = make(tokens=24)
    live.start(None)
    whole = held(list(live.messages()))
    message = json.loads(messages.since(live.recording.run(), live.recording.name, 3))
    assert message["from"] == 3
    assert message["steps"] == whole["steps"][3:]
    assert message["trees"] == whole["trees"]
    assert message["pieces"] == whole["pieces"]


HOSTILE = [
    {"label": "measured"},
    {"target": 7, "draft": ["x"]},
    {"prompt": "x" * 10**6},
    {"policy": "x", "tree": 3},
    {"policy": {"temperature": "<b>", "seed": 10**400, "top_p": True}},
    {"plain_seconds": -1},
    {"plain_seconds": math.inf},
    {"acceptance": [1, "x"]},
    {"acceptance": list(range(5000))},
    {"versions": {"a": {"b": []}}},
    {"tree": {"nodes": [1], "how": {}}},
    {"tree": {"wish": "best"}},
    {"tree": {"wish": []}},
    {"tree": {"wish": [["best"]]}},
    {"tree": {"wish": ["best", math.nan]}},
    {"tree": {"wish": ["lab", "0 " * 10**5]}},
    {"unknown": {"a": [1] * 100}},
    {"verdict": {"ratio": 2.0, "low": 1.0, "high": 3.0, "runs": 1, "seconds": [0.1, 0.2]}},
]


@pytest.mark.parametrize("meta", HOSTILE, ids=lambda meta: str(meta)[:40])
def test_the_meta_of_a_file_is_reduced_to_known_fields_and_types(meta: dict[str, Any]) -> None:
    clean = messages.recorded(meta)
    assert clean["label"] == "recorded"
    assert clean.keys() <= {"label", "policy", "tree", "versions", "prompt"}
    assert len(json.dumps(clean, allow_nan=False)) < 21_000
    assert all(isinstance(value, int | float) for value in clean.get("policy", {}).values())
    assert "wish" not in clean.get("tree", {})


def test_a_file_cannot_choose_how_its_clock_is_described() -> None:
    meta = {"label": "simulated", "clock": "my card", "clock_machine": "the fastest machine"}
    assert messages.recorded(meta)["clock_machine"] == "“my card”"


VERDICT = {"ratio": 2.0, "low": 1.5, "high": 2.5, "runs": 1, "seconds": [0.002, 0.004]}


def test_a_recorded_speed_is_called_recorded() -> None:
    verdict = {**VERDICT, "label": "measured", "code": "slower"}
    clean = messages.recorded({"label": "measured", "plain_seconds": 0.004, "verdict": verdict})
    assert (clean["label"], clean["plain_seconds"]) == ("recorded", 0.004)
    assert clean["verdict"] == {**VERDICT, "label": "recorded", "code": "win"}


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({}, True),
        ({"low": None, "high": None}, True),
        ({"low": 2.0, "high": 2.0}, True),
        ({"low": None}, False),
        ({"low": 2.1}, False),
        ({"high": 1.9}, False),
        ({"low": -1}, False),
        ({"high": math.inf}, False),
        ({"ratio": "x"}, False),
        ({"ratio": math.nan}, False),
        ({"seconds": [0.1]}, False),
        ({"seconds": 3}, False),
        ({"runs": 0}, False),
        ({"runs": 1.5}, False),
    ],
)
def test_the_verdict_of_a_file_is_kept_if_it_is_possible(
    change: dict[str, Any], kept: bool
) -> None:
    clean = messages.recorded({"plain_seconds": 0.004, "verdict": {**VERDICT, **change}})
    assert ("verdict" in clean) == kept
    assert clean["plain_seconds"] == 0.004


@pytest.mark.parametrize("verdict", [None, "x", [], {}, 3])
def test_a_verdict_of_another_form_is_dropped(verdict: Any) -> None:
    clean = messages.recorded({"plain_seconds": 0.004, "verdict": verdict})
    assert "verdict" not in clean


def test_markup_of_a_run_stays_text(make: Callable[..., DecodeJob]) -> None:
    live = make(tokens=4, prompt="<img src=x onerror=alert(1)> ${7*7} {{value}}")
    live.start(None)
    run = held(list(live.messages()))
    assert run["meta"]["prompt"] == "<img src=x onerror=alert(1)> ${7*7} {{value}}"
    assert Run.from_json(live.recording.run().to_json()).meta["prompt"] == run["meta"]["prompt"]


PLAIN = {
    "seconds": [0.002, 0.003],
    "text": ["a", " b"],
    "same": 2,
    "finish": "length",
    "limit": 3.0,
}


@pytest.mark.parametrize(
    ("plain", "kept"),
    [
        (PLAIN, True),
        ({**PLAIN, "text": ["a"]}, False),
        ({**PLAIN, "seconds": [0.002, -1]}, False),
        ({**PLAIN, "seconds": [0.002, "fast"]}, False),
        ({**PLAIN, "text": ["a", "b" * 201]}, False),
        ({**PLAIN, "same": 3}, False),
        ({**PLAIN, "same": True}, False),
        ({**PLAIN, "finish": "x"}, False),
        ({**PLAIN, "limit": None}, False),
        ({"seconds": [], "text": []}, False),
        ({"seconds": [0.1]}, False),
        ("plain", False),
    ],
)
def test_a_recorded_plain_run_is_shown_only_if_complete(plain: Any, kept: bool) -> None:
    clean = messages.recorded({"plain_seconds": 0.004, "plain": plain})
    assert clean.get("plain") == (plain if kept else None)


OPENING = {"median": 1.6, "range": [1.2, 2.1], "prompts": [["a function", 1.6], ["a class", 2.0]]}


@pytest.mark.parametrize(
    ("opening", "kept"),
    [
        (OPENING, True),
        ({**OPENING, "median": "1.6"}, False),
        ({**OPENING, "range": [1.7, 2.1]}, False),
        ({**OPENING, "prompts": []}, False),
        ({**OPENING, "prompts": [["a function"]]}, False),
        ({**OPENING, "prompts": [[1.6, "a function"]]}, False),
        ({}, False),
        (None, False),
    ],
)
def test_how_the_opening_run_was_chosen_is_kept_only_if_complete(opening: Any, kept: bool) -> None:
    clean = messages.recorded({"plain_seconds": 0.004, "opening": opening})
    assert clean.get("opening") == (opening if kept else None)
