"""Hostile values: whatever the form sends becomes either a RunRequest or a SequoiaError that
says what is wrong. Also the clock of a run, measured or simulated, and the way from a run back to
its form values."""

from __future__ import annotations

import math
from typing import Any

import pytest
from visits import PLAIN

from sequoia import Run, SamplingParams, SequoiaError, named_profile, profile_names
from sequoia.saved_files.race_file import LaneLog, RaceLog
from ui.run import clocks
from ui.run.request import RunRequest, settings_of
from ui.serving.limits import LOCAL, PUBLIC
from ui.shared import labels
from ui.shared.tree_menu import SHAPES
from ui.shared.tree_request import TreeRequest

GOOD: dict[str, Any] = {
    "prompt": "x = 1",
    "temperature": 0.6,
    "top_p": 1,
    "max_new_tokens": 16,
    "seed": 3,
    "lanes": [PLAIN, ("planned", "", "sequoia")],
}


def with_lane(kind: Any, numbers: Any = "", verifier: Any = "sequoia") -> dict[str, Any]:
    return {**GOOD, "lanes": [PLAIN, (kind, numbers, verifier)]}


BAD = [
    ("prompt", " \n\t", "empty"),
    ("prompt", "x" * 20_001, "20001 characters"),
    ("temperature", math.nan, "nan"),
    ("temperature", "1", "'1'"),
    ("top_p", 0, "0.01 to 1"),
    ("max_new_tokens", 10**400, "integer of"),
    ("seed", None, "enter a "),
    ("lanes", [], "a run of 0 lanes; expected 1 to 4"),
    ("lanes", [PLAIN] * 5, "a run of 5 lanes; expected 1 to 4"),
]


@pytest.mark.parametrize(("field", "value", "says"), BAD, ids=lambda part: str(part)[:30])
def test_a_bad_value_is_named(field: str, value: Any, says: str) -> None:
    with pytest.raises(SequoiaError) as caught:
        RunRequest.parse({**GOOD, field: value}, LOCAL)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


BAD_LANES = [
    ("shrub", "", "sequoia", "'shrub'"),
    ({"a": 1}, "", "sequoia", "dict"),
    ("chain", "3", "best", "'best'"),
    ("chain", "3", ["sequoia"], "unknown verifier"),
    ("best", "1025, 3", "sequoia", "1025"),
    ("best", "8", "sequoia", "enter 2 "),
    ("sequences", "500, 500", "sequoia", "1024"),
    ("branching", "2, x", "sequoia", "2, x"),
    ("branching", "9999999999", "sequoia", "99999"),
    ("branching", "²", "sequoia", "Children, level by level: "),
    ("lab", "9" * 5000, "sequoia", "Parent of each node: "),  # too long for int()
]


@pytest.mark.parametrize(
    ("kind", "numbers", "verifier", "says"), BAD_LANES, ids=lambda part: str(part)[:30]
)
def test_a_bad_lane_is_named(kind: Any, numbers: Any, verifier: Any, says: str) -> None:
    with pytest.raises(SequoiaError, match=r"^Lane 2: ") as caught:
        RunRequest.parse(with_lane(kind, numbers, verifier), LOCAL)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


def test_every_field_survives_every_kind_of_junk() -> None:
    """Each of these values in each field gives a request or a SequoiaError, and no other
    exception."""
    junk = [
        None,
        True,
        -1,
        1.5,
        math.nan,
        -math.inf,
        10**400,
        "",
        "x" * 10**5,
        "\x00\ud800",
        [],
        [[]],
        {},
        {"a": math.nan},
        b"x",
    ]
    refused = 0
    fields = [*GOOD, "chat", "check", "clock", "profiles", "second_prompt"]
    forms = [{**GOOD, field: value} for field in fields if field != "lanes" for value in junk]
    for kind in SHAPES:
        forms += [with_lane(kind, value) for value in junk]
        forms += [with_lane(kind, "4, 2", value) for value in junk]
    for form in forms:
        try:
            RunRequest.parse(form, LOCAL)
        except SequoiaError:
            refused += 1
    assert refused > 300


@pytest.mark.parametrize(("field", "label"), labels.RUN.items())
def test_messages_name_fields_by_their_labels(field: str, label: str) -> None:
    """The messages are shown on the page, so they must not contain names from the code."""
    for value in (None, -1, "x", math.nan):
        with pytest.raises(SequoiaError) as caught:
            RunRequest.parse({**GOOD, field: value}, LOCAL)
        assert str(caught.value).startswith(f"{label}: ")
        assert field not in str(caught.value) or field == label.lower()
        assert "None" not in str(caught.value)


@pytest.mark.parametrize("kind", [kind for kind, shape in SHAPES.items() if shape.fields])
def test_messages_name_the_numbers_of_a_shape_by_their_labels(kind: str) -> None:
    for place, label in enumerate(SHAPES[kind].fields):
        numbers = list(SHAPES[kind].start)
        for bad in (None, -1, "x"):
            numbers[place] = bad
            with pytest.raises(SequoiaError) as caught:
                TreeRequest(kind, tuple(numbers))
            assert str(caught.value).startswith(f"{label}: ") or (kind == "branching" and bad == -1)


@pytest.mark.parametrize(
    ("field", "value", "bound"),
    [
        ("max_new_tokens", 513, "512"),
        ("lanes", [("chain", "257", "sequoia")], "256"),
        ("prompt", "x" * 8001, "8000"),
    ],
)
def test_public_pages_have_their_own_limits(field: str, value: Any, bound: str) -> None:
    form = {**GOOD, field: value}
    assert RunRequest.parse(form, LOCAL)
    with pytest.raises(SequoiaError, match=bound):
        RunRequest.parse(form, PUBLIC)


# -- the clock -------------------------------------------------------------------------------------

A100 = "a100-llama-2-7b-eager"


def test_the_clocks_are_the_shipped_profiles_with_simulated_times() -> None:
    """A run timed on any other profile would wrongly be labelled simulated."""
    keys = [key for _, key in clocks.clock_choices()]
    assert keys[0] == ""
    assert set(keys[1:]) == {
        name for name in profile_names() if named_profile(name).source == "simulated"
    }
    assert A100 in keys


def test_the_menu_says_which_clock_measures() -> None:
    labels = {key: label for label, key in clocks.clock_choices()}
    assert labels[""] == "this machine (measured)"
    assert labels[A100].startswith("as on the A100, Llama-2-7B")
    assert all(label.endswith(" (simulated)") for key, label in labels.items() if key)


@pytest.mark.parametrize(
    "clock", [None, 0, [], {}, "A100", "epyc-2-cores-bundled", "a100-llama2-7b-jf68m", "x" * 999]
)
def test_an_unknown_clock_is_refused_with_a_list_of_the_clocks(clock: Any) -> None:
    with pytest.raises(SequoiaError, match=f"^Timed on: .* is not a clock; .*{A100}"):
        RunRequest.parse({**GOOD, "clock": clock}, LOCAL)


def test_a_dynamic_tree_is_refused_on_a_simulated_clock() -> None:
    """The simulated time is computed from the final tree. Drafting a dynamic tree may take more
    passes than that tree shows, so the time would be too short."""
    form = with_lane("dynamic", "12, 4")
    assert RunRequest.parse(form, LOCAL)
    with pytest.raises(SequoiaError, match=r"on a simulated clock.*this machine"):
        RunRequest.parse({**form, "clock": A100}, LOCAL)


# -- from a run back to the form -------------------------------------------------------------------


def log(lane: dict[str, Any], **meta: Any) -> RaceLog:
    """A run of plain decoding and one other lane. lane: the meta of the other lane."""
    shared = {"prompt": "x = 1", **meta}
    lanes = [
        LaneLog(name, "", "specinfer", False, 8, False, Run({**shared, **own}, {}, ()))
        for name, own in (("Plain", {"tree": {"request": ["plain"]}}), ("other", lane))
    ]
    return RaceLog(shared, tuple(lanes))


@pytest.mark.parametrize("kind", SHAPES)
def test_a_run_can_be_requested_again_with_its_settings(kind: str) -> None:
    request = TreeRequest(kind, SHAPES[kind].start)
    params = {"temperature": 0.3, "top_p": 0.9, "max_new_tokens": 20, "seed": 5}
    made = log({"tree": {"request": [kind, *request.numbers]}}, params=params, chat=True)
    found = RunRequest.parse(settings_of(made, LOCAL), LOCAL)
    assert (found.prompt, found.params) == ("x = 1", SamplingParams(0.3, 0.9, 20, 5))
    assert (found.chat, found.clock) == (True, None)
    assert [lane.tree_request for lane in found.lanes] == [TreeRequest("plain"), request]
    assert {lane.verifier for lane in found.lanes} == {"specinfer"}


def test_the_clock_of_a_run_is_copied_to_the_form() -> None:
    meta = clocks.clock_meta(clocks.checked_clock(A100), ("a", "b"))
    made = log({"tree": {"request": ["chain", 3]}}, **meta)
    assert settings_of(made, LOCAL)["clock"] == A100


def test_a_run_timed_by_an_unknown_clock_is_not_copied_to_the_form() -> None:
    made = log({"tree": {"request": ["chain", 3]}}, label="simulated", clock="mine")
    with pytest.raises(SequoiaError, match="timed on 'mine', but no simulated profile has"):
        settings_of(made, LOCAL)


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "x" * 10**5},
        {"params": {"max_new_tokens": 4096}},
        {"lane": {"tree": {"request": [3]}}},
        {"lane": {"tree": {"request": ["best"]}}},
        {"lane": {"tree": {"request": ["chain", 2000]}}},
        {"lane": {"tree": {"request": ["lab", "0 0"]}}},
    ],
)
def test_settings_that_cannot_be_run_are_refused(change: dict[str, Any]) -> None:
    lane = change.pop("lane", {"tree": {"request": ["chain", 3]}})
    with pytest.raises(SequoiaError):
        settings_of(log(lane, **change), PUBLIC)
