"""Hostile values: whatever the form sends becomes either a DecodeRequest or a SequoiaError that
says what is wrong. Also the clock of a run, measured or simulated, and the way from a run back to
its form values."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sequoia import SamplingParams, SequoiaError, named_profile, profile_names
from ui.decode import clocks
from ui.decode.request import DecodeRequest, settings_of
from ui.serving.limits import LOCAL, PUBLIC
from ui.shared import labels
from ui.shared.tree_menu import SHAPES
from ui.shared.tree_request import TreeRequest

GOOD = {
    "prompt": "x = 1",
    "temperature": 0.6,
    "top_p": 1,
    "max_new_tokens": 16,
    "seed": 3,
    "tree": "planned",
    "first": 8,
    "second": 3,
    "branching": "2, 2",
    "verifier": "sequoia",
    "compare": True,
}

BAD = [
    ("prompt", " \n\t", "empty"),
    ("prompt", None, "empty"),
    ("prompt", "x" * 20_001, "20001 characters"),
    ("temperature", math.nan, "nan"),
    ("temperature", -0.1, "-0.1"),
    ("temperature", "1", "'1'"),
    ("temperature", None, "enter a "),
    ("top_p", 0, "0.01 to 1"),
    ("max_new_tokens", 0, "1 to 4096"),
    ("max_new_tokens", 10**400, "integer of"),
    ("seed", -1, "-1"),
    ("seed", None, "enter a "),
    ("verifier", "best", "'best'"),
    ("verifier", ["sequoia"], "unknown verifier"),
    ("tree", "shrub", "'shrub'"),
    ("tree", {"a": 1}, "dict"),
]


@pytest.mark.parametrize(("field", "value", "says"), BAD, ids=lambda part: str(part)[:30])
def test_a_bad_value_is_named(field: str, value: Any, says: str) -> None:
    with pytest.raises(SequoiaError) as caught:
        DecodeRequest.parse({**GOOD, field: value}, LOCAL)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


BAD_TREES = [
    ("best", {"first": 1025}, "1025"),
    ("best", {"second": 1}, "1"),
    ("best", {"second": None}, "enter a "),
    ("chain", {"first": -3}, "-3"),
    ("sequences", {"first": 500, "second": 500}, "1024"),
    ("kary", {"first": 10**30}, "1024"),
    ("branching", {"branching": "2, x"}, "2, x"),
    ("branching", {"branching": ""}, "Children, level by level: "),
    ("branching", {"branching": "9999999999"}, "99999"),
    ("branching", {"branching": "32 32 32"}, "1024"),
    ("branching", {"branching": "²"}, "Children, level by level: "),
    ("lab", {"branching": "9" * 5000}, "Parent of each node: "),  # too long for int()
]


@pytest.mark.parametrize(("kind", "change", "says"), BAD_TREES, ids=lambda part: str(part)[:40])
def test_a_bad_tree_is_named(kind: str, change: dict[str, Any], says: str) -> None:
    with pytest.raises(SequoiaError) as caught:
        DecodeRequest.parse({**GOOD, "tree": kind, **change}, LOCAL)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 300


def test_every_field_survives_every_kind_of_junk() -> None:
    """For every kind of tree, each of these values in each field gives a request or a SequoiaError,
    and no other exception."""
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
    for kind in SHAPES:
        for field in (*GOOD, "chat", "clock", "profiles"):
            for value in junk:
                try:
                    DecodeRequest.parse({**GOOD, "tree": kind, field: value}, LOCAL)
                except SequoiaError:
                    refused += 1
    assert refused > 500


@pytest.mark.parametrize(("field", "label"), labels.RUN.items())
def test_messages_name_fields_by_their_labels(field: str, label: str) -> None:
    """The messages are shown on the page, so they must not contain names from the code."""
    for value in (None, -1, "x", math.nan):
        with pytest.raises(SequoiaError) as caught:
            DecodeRequest.parse({**GOOD, field: value}, LOCAL)
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


def test_browsers_write_whole_numbers_as_floats() -> None:
    decode_request = DecodeRequest.parse(
        {**GOOD, "max_new_tokens": 16.0, "seed": 3.0, "tree": "chain", "first": 5.0}, LOCAL
    )
    assert (
        decode_request.params.max_new_tokens,
        decode_request.params.seed,
        decode_request.tree_request.numbers,
    ) == (16, 3, (5,))


@pytest.mark.parametrize(
    ("field", "value", "bound"),
    [("max_new_tokens", 513, "512"), ("first", 257, "256"), ("prompt", "x" * 8001, "8000")],
)
def test_public_pages_have_their_own_limits(field: str, value: Any, bound: str) -> None:
    form = {**GOOD, "tree": "chain", field: value}
    assert DecodeRequest.parse(form, LOCAL)
    with pytest.raises(SequoiaError, match=bound):
        DecodeRequest.parse(form, PUBLIC)


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
    assert labels[A100].startswith("as on an A100, Llama-2-7B")
    assert all(label.endswith(" (simulated)") for key, label in labels.items() if key)


def test_a_clock_of_the_menu_is_accepted() -> None:
    found = DecodeRequest.parse({**GOOD, "clock": A100}, LOCAL)
    assert found.simulated_clock.profile == named_profile(A100)


@pytest.mark.parametrize(
    "clock", [None, 0, [], {}, "A100", "epyc-2-cores-bundled", "a100-llama2-7b-jf68m", "x" * 999]
)
def test_an_unknown_clock_is_refused_with_a_list_of_the_clocks(clock: Any) -> None:
    with pytest.raises(SequoiaError, match=f"^Timed on: .* is not a clock; .*{A100}"):
        DecodeRequest.parse({**GOOD, "clock": clock}, LOCAL)


def test_a_dynamic_tree_is_refused_on_a_simulated_clock() -> None:
    """The simulated time is computed from the final tree. Drafting a dynamic tree may take more
    passes than that tree shows, so the time would be too short."""
    form = {**GOOD, "tree": "dynamic"}
    assert DecodeRequest.parse(form, LOCAL)
    with pytest.raises(SequoiaError, match=r"on a simulated clock.*this machine"):
        DecodeRequest.parse({**form, "clock": A100}, LOCAL)


def test_the_clock_of_a_run_is_copied_to_the_form() -> None:
    meta = {"prompt": "x", **clocks.clock_meta(clocks.checked_clock(A100), ("a", "b"))}
    assert settings_of(meta, LOCAL)["clock"] == A100
    assert settings_of({"prompt": "x", **clocks.clock_meta(None, ("a", "b"))}, LOCAL)["clock"] == ""


def test_a_run_timed_by_an_unknown_clock_is_not_copied_to_the_form() -> None:
    with pytest.raises(SequoiaError, match="timed on 'mine', but no simulated profile has"):
        settings_of({"prompt": "x", "label": "simulated", "clock": "mine"}, LOCAL)


# -- from a run back to the form -------------------------------------------------------------------


@pytest.mark.parametrize("kind", SHAPES)
def test_a_run_can_be_requested_again_with_its_settings(kind: str) -> None:
    tree_request = TreeRequest(kind, SHAPES[kind].start)
    params = {"temperature": 0.3, "top_p": 0.9, "max_new_tokens": 20, "seed": 5}
    meta = {
        "prompt": "x = 1",
        "verifier": "specinfer",
        "params": params,
        "tree": {"request": [kind, *tree_request.numbers]},
        "chat": True,
    }
    found = settings_of(meta, LOCAL)
    first, second = [*found.pop("numbers"), None, None][:2]
    decode_request = DecodeRequest.parse(
        {**found, "first": first, "second": second, "branching": first, "compare": True}, LOCAL
    )
    assert decode_request == DecodeRequest(
        "x = 1", SamplingParams(0.3, 0.9, 20, 5), tree_request, "specinfer", True, True
    )


def test_settings_without_a_requested_tree_are_still_copied() -> None:
    for tree in ({}, {"description": "planned"}, {"request": "chain"}, {"request": []}, None):
        found = settings_of({"prompt": "x", "params": {"seed": 4}, "tree": tree}, LOCAL)
        assert found == {
            "prompt": "x",
            "chat": False,
            "verifier": "sequoia",
            "clock": "",
            "temperature": 1.0,
            "top_p": 1.0,
            "max_new_tokens": 128,
            "seed": 4,
        }


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": None},
        {"prompt": "x" * 10**5},
        {"verifier": []},
        {"params": {"temperature": math.nan}},
        {"params": {"seed": "1"}},
        {"params": {"max_new_tokens": 5000}},
        {"tree": {"request": [3]}},
        {"tree": {"request": [["best"], 1]}},
        {"tree": {"request": ["best"]}},
        {"tree": {"request": ["chain", 10**30]}},
        {"tree": {"request": ["lab", "0 0"]}},
        {"tree": {"request": ["lab", {}]}},
    ],
)
def test_settings_that_cannot_be_run_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(SequoiaError):
        settings_of({"prompt": "x", **change}, LOCAL)
