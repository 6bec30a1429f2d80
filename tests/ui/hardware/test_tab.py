"""The hardware view's handlers: what is shown, saved, refused and measured, with a tiny pair
and hostile values."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import made_profile
from visits import KARY, PLAIN, Reading, request, wait

from sequoia import Pair, Run, machine
from sequoia.measuring.counted_acceptance import AcceptanceByLevel, Counts
from sequoia.planning.plan_for_machine import best_plan, bounds
from ui.hardware import tab as hardware_tab
from ui.hardware.form import NONE
from ui.hardware.profile_job import ProfileJob
from ui.hardware.tab import HERE, HardwareTab
from ui.run.messages import OpenedRun
from ui.run.report import drafted_lane
from ui.serving.limits import LOCAL
from ui.shared import saved_profiles
from ui.shared.acceptance_rates import PAPER
from ui.shared.saved_profiles import Entry
from ui.words.figures import time_words

PROFILE = made_profile(
    source="measured",
    target_seconds=((1, 0.02, 0.001), (64, 0.05, 0.002)),
    draft_seconds=((1, 0.0015, 0.0),),
)


def asked(tab: HardwareTab, **values: Any) -> dict[Any, Any]:
    usual = {
        "profile": None,
        "against": None,
        "rates": None,
        "nodes": "64",
        "store": [],
        "name": "mine",
        "open": None,
    }
    return {getattr(tab.form, name): value for name, value in {**usual, **values}.items()}


def view(tab: HardwareTab, updates: dict[Any, Any]) -> dict[str, Any]:
    return json.loads(updates[tab.board])["view"]


def error(tab: HardwareTab, updates: dict[Any, Any]) -> str:
    """The error message in `updates`. They must update only the board, and not the view on it."""
    assert set(updates) == {tab.board}
    message = json.loads(updates[tab.board])
    assert "view" not in message
    return message["error"]


# -- showing ---------------------------------------------------------------------------------------


def test_it_opens_with_this_machine_as_measured(tab: HardwareTab, pair: Pair) -> None:
    async def first() -> dict[Any, Any]:
        return await anext(tab.come(asked(tab), request()))

    updates = asyncio.run(first())
    shown = view(tab, updates)
    assert (shown["profile"]["label"], shown["profile"]["name"]) == ("measured", "this machine")
    assert shown["plan"]["plain"] == machine(pair).plain_seconds
    assert updates[tab.form.profile]["value"] == HERE
    assert shown["run"] is None


def test_switching_the_profile_changes_the_tree_at_once(tab: HardwareTab) -> None:
    paper = view(
        tab, tab.look(asked(tab, profile="a100-llama2-7b-jf68m", rates="paper"), request())
    )
    slow = replace(PROFILE, target_seconds=((1, 0.02, 0.0), (2, 0.5, 0.0)))
    store = saved_profiles.add_entry([], Entry("slow", slow))
    kept = view(
        tab, tab.look(asked(tab, profile="kept:slow", rates="paper", store=store), request())
    )
    assert paper["plan"]["nodes"] == 64
    assert kept["plan"]["nodes"] == 1
    assert "plain decoding" in paper["why"].lower()
    assert kept["why"].startswith("Best: plain decoding")


def test_paper_profiles_are_never_labelled_measured(tab: HardwareTab) -> None:
    for key, entry in [*saved_profiles.shipped().items()][::4]:
        shown = view(tab, tab.look(asked(tab, profile=key), request()))["profile"]
        assert shown["label"] == entry.profile.source != "measured"
        assert shown["note"]
        assert ("assumed" in shown["device"]) == (entry.profile.source == "paper")


@pytest.mark.parametrize(("nodes", "says"), [("0", "0"), ([], "list")])
def test_a_bad_size_is_named_and_the_view_stays(tab: HardwareTab, nodes: Any, says: str) -> None:
    message = json.loads(tab.look(asked(tab, nodes=nodes), request())[tab.board])
    assert "view" not in message
    assert says in message["error"]
    assert "1 to 1024" in message["error"]


@pytest.mark.parametrize(("most", "typed"), [(1024, ""), (20, "  ")])
def test_without_a_size_the_planners_own_bound_holds(
    tab: HardwareTab, monkeypatch: pytest.MonkeyPatch, most: int, typed: str | None
) -> None:
    """Each profile, shown or compared, has its own bound. The Lab uses the same bounds."""
    monkeypatch.setattr(tab, "_limits", dataclasses.replace(LOCAL, nodes=most))
    paper = "a100-llama2-7b-jf68m"
    profiles = saved_profiles.shipped()
    other = next(key for key, one in profiles.items() if one.profile.source == "recorded")
    updates = tab.look(
        asked(tab, nodes=typed, profile=paper, against=other, rates="paper"), request()
    )
    shown = view(tab, updates)
    wanted = [
        best_plan(PAPER, profile, min(bounds(profile)[0], most)).predicted_speedup
        for profile in (profiles[paper].profile, profiles[other].profile)
    ]
    assert shown["plan"]["speedup"] == pytest.approx(wanted[0])
    assert f"{wanted[1]:.2f}× plain decoding" in shown["there"]
    assert f"The best tree has {min(128, most)} nodes, the largest size considered" in shown["why"]


def test_junk_in_the_menus_and_the_store_is_ignored(tab: HardwareTab) -> None:
    for name in ("profile", "against", "rates", "store"):
        for junk in (math.nan, "\x00\ud800", [[]]):
            shown = view(tab, tab.look(asked(tab, **{name: junk}), request()))
            assert shown["plan"]["nodes"] >= 1


def test_a_profile_is_not_compared_with_itself(tab: HardwareTab) -> None:
    key = "a100-llama2-7b-jf68m"
    assert view(tab, tab.look(asked(tab, against=key), request()))["there"]
    itself = tab.look(asked(tab, profile=key, against=key), request())
    assert view(tab, itself)["there"] is None
    assert view(tab, itself)["against"] is None
    assert itself[tab.form.against]["value"] == NONE
    assert key not in {other for _, other in itself[tab.form.against]["choices"]}


@pytest.mark.parametrize(
    ("profile", "rates", "whose"),
    [
        (HERE, "T0.6", None),
        (HERE, "paper", ("target", "draft")),
        ("a100-llama2-7b-jf68m", "T0.6", ("Llama2-7B", "JF68M")),
        ("a100-llama2-7b-jf68m", "paper", ("Llama2-7B", "JF68M")),
    ],
)
def test_times_and_acceptance_of_different_models_are_called_hypothetical(
    tab: HardwareTab, profile: str, rates: str, whose: tuple[str, str] | None
) -> None:
    shown = view(tab, tab.look(asked(tab, profile=profile, rates=rates), request()))
    if whose is None:
        assert shown["supposed"] is None
    else:
        assert shown["supposed"].startswith(
            f"Hypothetical: the times are those of {whose[0]} with {whose[1]}, but the "
        )
        assert shown["rates"]["name"] in shown["supposed"]


# -- runs and recorded tables ----------------------------------------------------------------------


def test_the_run_in_the_address_is_compared_to_a_prediction(tab: HardwareTab, make: Any) -> None:
    """The measured speed-up is that of the run's verdict."""
    lanes = [KARY, PLAIN]
    run = make(run_store=tab._runs.run_store, lanes=lanes, max_new_tokens=12, temperature=0.0)
    run.start(None)
    for _ in run.messages():
        pass
    shown = view(tab, tab.look(asked(tab), request(run=run.recording.name)))
    lane = drafted_lane(run.recording.log(), run.recording.verdict)
    made: Run = lane.run
    assert shown["run"]["steps"] == len(made.steps)
    verdict = lane.speedup
    assert shown["run"]["measured"] == verdict.ratio
    assert shown["run"]["verdict"] == asdict(verdict)
    assert f", measured {verdict.ratio:.2f}×" in shown["run"]["sentence"]
    parts = {
        name: (predicted, measured, effect)
        for name, predicted, measured, effect in shown["run"]["parts"]
    }
    assert parts["plain"][1] == time_words(lane.plain_seconds)
    assert shown["by_level"][0]["label"] == "measured"
    counted = AcceptanceByLevel.fold(made.steps)
    cells = [cell[:4] for cell in shown["by_level"][0]["cells"]]
    assert {(depth, rank): Counts(*counts) for depth, rank, *counts in cells} == counted.cells
    assert {by_level["label"] for by_level in shown["by_level"][1:]} == {"recorded"}
    assert view(tab, tab.look(asked(tab), request(run="unknown")))["run"] is None


@pytest.mark.parametrize(
    ("is_from_file", "label"),
    [(True, ("run on screen", "recorded")), (False, ("latest run", "measured"))],
)
def test_the_times_of_a_file_and_of_a_simulated_clock_are_not_measured(
    tab: HardwareTab, make: Any, is_from_file: bool, label: tuple[str, str]
) -> None:
    """A file with the same models may have been made on another machine. The tokens of a simulated
    run were counted here."""
    clock = "" if is_from_file else "a100-llama-2-7b-eager"
    run = make(run_store=tab._runs.run_store, max_new_tokens=8, clock=clock)
    run.start(None)
    list(run.messages())
    found: Any = run.recording
    if is_from_file:
        found = OpenedRun(found.log())
        tab._runs.run_store.put(found)
    shown = view(tab, tab.look(asked(tab), request(run=found.name)))
    assert shown["run"] is None
    first = shown["by_level"][0]
    assert (first["name"], first["label"]) == label


# -- saving ----------------------------------------------------------------------------------------


def test_profiles_are_saved_imported_and_removed(tab: HardwareTab, tmp_path: Path) -> None:
    updates = tab.save_profile(asked(tab, profile=HERE, name=" my  box "), request())
    store = updates[tab.form.store]
    assert updates[tab.form.profile]["value"] == "kept:my box"
    assert view(tab, updates)["profile"]["label"] == "recorded"
    file = tmp_path / "from elsewhere.json"
    file.write_text(PROFILE.to_json())
    updates = tab.import_profile(asked(tab, open=str(file), store=store), request())
    shown = view(tab, updates)["profile"]
    assert (shown["name"], shown["label"]) == ("from elsewhere", "recorded")
    assert shown["device"] == "one card"
    assert [*saved_profiles.saved_entries(updates[tab.form.store])] == ["my box", "from elsewhere"]
    updates = tab.remove_profile(
        asked(tab, profile="kept:my box", store=updates[tab.form.store]), request()
    )
    assert [*saved_profiles.saved_entries(updates[tab.form.store])] == ["from elsewhere"]
    assert updates[tab.form.profile]["value"] == HERE
    store = tab.save_profile(asked(tab, profile=HERE, name=HERE), request())[tab.form.store]
    # this machine's own profile is not removed, even if a saved profile has the name HERE
    for saved in ([], store):
        assert "only profiles that you saved yourself" in error(
            tab, tab.remove_profile(asked(tab, profile=HERE, store=saved), request())
        )


BAD = [
    ('{"format": "sequoia-profile"', "not a JSON file"),
    (PROFILE.to_json().replace("0.05", "-0.05"), "-0.05"),
]


@pytest.mark.parametrize(("text", "says"), BAD, ids=range(len(BAD)))
def test_a_bad_file_is_refused_with_its_value(
    tab: HardwareTab, tmp_path: Path, text: str, says: str
) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    words = error(tab, tab.import_profile(asked(tab, open=str(file)), request()))
    assert words.startswith("Not imported: ")
    assert says in words


# -- measuring -------------------------------------------------------------------------------------


def test_a_measurement_becomes_this_machines_profile(
    tab: HardwareTab, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        hardware_tab, "ProfileJob", lambda model_host: ProfileJob(model_host, seconds=0.5)
    )
    before = machine(pair)
    updates = [*Reading(tab.measure(asked(tab), request()))]
    assert machine(pair) is not before
    assert view(tab, updates[-1])["plan"]["plain"] == machine(pair).plain_seconds
    shares = [json.loads(update[tab.board]).get("share") for update in updates[1:-1]]
    assert any(share is not None and 0 < share < 1 for share in shares)
    assert updates[0][tab.form.stop_it]["interactive"] is True
    assert updates[-1][tab.form.measure_it]["interactive"] is True
    assert json.loads(updates[-1][tab.board])["notice"]


def test_a_stopped_measurement_keeps_the_previous_profile(tab: HardwareTab, pair: Pair) -> None:
    before = machine(pair)
    steps = Reading(tab.measure(asked(tab), request("two")))
    assert next(steps)[tab.form.measure_it]["interactive"] is False
    tab.stop(request("two"))
    *earlier, last = steps
    assert machine(pair) is before
    assert set(last) == {tab.form.measure_it, tab.form.stop_it}
    assert "kept" in json.loads(earlier[-1][tab.board])["notice"]
    wait(lambda: len(tab._model_host.queue) == 0)


def test_a_visitor_of_the_network_cannot_measure(tab: HardwareTab, pair: Pair) -> None:
    before = machine(pair)
    (update,) = Reading(tab.measure(asked(tab), request("six", client="192.168.1.9")))
    assert "owner's link" in error(tab, update)
    assert machine(pair) is before


# -- links -----------------------------------------------------------------------------------------


def linked(tab: HardwareTab, event: Any) -> dict[Any, Any]:
    """The last updates after a link was opened."""

    async def last() -> dict[Any, Any]:
        return [updates async for updates in tab.use_link({tab.form.store: []}, event, request())][
            -1
        ]

    return asyncio.run(last())


def test_the_profile_of_a_link_is_shown(tab: HardwareTab) -> None:
    key = next(iter(saved_profiles.shipped()))
    sent = SimpleNamespace(_data={"profile": key, "against": NONE, "rates": None, "nodes": 32})
    updates = linked(tab, sent)
    assert updates[tab.form.profile]["value"] == key
    assert updates[tab.form.nodes]["value"] == 32
    assert view(tab, updates)["profile"]["name"] == saved_profiles.shipped()[key].name


@pytest.mark.parametrize("data", ["no", {"profile": "saved:not here"}])
def test_a_link_to_an_unknown_profile_opens_the_usual_view(tab: HardwareTab, data: Any) -> None:
    updates = linked(tab, SimpleNamespace(_data=data))
    message = json.loads(updates[tab.board])
    is_named = isinstance(data, dict)
    assert ("is not saved in this browser" in (message.get("notice") or "")) == is_named
    assert message["view"]["profile"]["name"]
