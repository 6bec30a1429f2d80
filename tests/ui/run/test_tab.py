"""The handlers behind the Run view, called with whatever a client may send."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fakes
import gradio as gr
import pytest
import visits
from visits import (
    Lane,
    Reading,
    laid_out,
    lane_steps,
    request,
    results_of,
    sent,
    slowed,
    values_of,
    wait,
)

import ui.run.decode_job
from sequoia import Decoder, Race, SamplingParams, Tree
from sequoia.saved_files.race_file import RaceLog
from ui.hardware.own_profile import START, own_profile, start_values
from ui.record.runs import record, request_of_preset
from ui.run import distribution_check, form, more_runs, recordings
from ui.run.decode_job import DecodeJob
from ui.run.presets import PRESETS, RunPreset
from ui.run.request import NO_LANE
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.shared import saved_profiles
from ui.shared.layout import header
from ui.shared.prompts import chat_presets, presets

LANES = [
    ("plain", "", "sequoia"),
    ("chain", "4", "sequoia"),
    ("none", "", "sequoia"),
    ("kary", "2, 3", "specinfer"),
]


@pytest.fixture
def tab(view: RunTab) -> RunTab:
    return view


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ui.run.decode_job, "Race", slowed(Race))


def filled(tab: RunTab, lanes: Sequence[Lane] = LANES, **changes: Any) -> dict[Any, Any]:
    return visits.filled(tab, lanes, **{"temperature": 0.0, "max_new_tokens": 10, **changes})


def raced(messages: list[dict[str, Any]]) -> str:
    """The name of the race that `messages` belong to."""
    return messages[-1]["run"]


def event(data: Any) -> SimpleNamespace:
    return SimpleNamespace(_data=data)


def board_message(tab: RunTab, updates: dict[Any, Any]) -> dict[str, Any]:
    return json.loads(updates[tab.stage])


# -- racing ----------------------------------------------------------------------------------------


def test_a_race_streams_ends_and_can_be_saved(tab: RunTab) -> None:
    messages = sent(tab.run(filled(tab), request()))
    assert messages[-1]["done"]
    assert sum(len(step["text"]) for message in messages for step in message.get("steps", [])) == 30
    after = tab.buttons_now(request())
    assert after[tab.form.run]["interactive"] is True
    assert after[tab.form.stop]["interactive"] is False
    saved = RaceLog.from_json(Path(after[tab.form.save]["value"]).read_text())
    assert [lane.name for lane in saved.lanes] == ["Plain", "Chain", "k-ary, SpecInfer"]
    assert tab.sessions.get("one").recording is None


def test_only_one_of_two_simultaneous_requests_continues_a_race(
    tab: RunTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against further runs that are made twice because two visitors asked for them."""
    monkeypatch.setattr(more_runs, "Race", slowed(Race))
    name = raced(sent(tab.run(filled(tab), request())))
    tab.buttons_now(request())

    async def both() -> list[dict[str, Any]]:
        asked = [tab.more(event({"run": name}), request(who)) for who in ("one", "two")]
        first = await asyncio.gather(*map(anext, asked))
        for going_on in asked:
            await going_on.aclose()
        return list(map(json.loads, first))

    errors = [message.get("error") for message in asyncio.run(both())]
    assert sorted(map(bool, errors)) == [False, True]
    assert "Not continued: further runs of this run are being made already" in errors
    wait(lambda: not tab.sessions.in_line)


def test_the_buttons_follow_the_race(tab: RunTab, slow: None) -> None:
    racing = Reading(tab.run(filled(tab, max_new_tokens=400), request()))
    next(racing)
    assert tab.buttons_now(request()) == tab.form.going()
    assert tab.form.going()[tab.form.stop]["interactive"] is True
    assert tab.form.going()[tab.form.run]["interactive"] is False
    # disabled, because the button still has the file of the previous race
    assert tab.form.going()[tab.form.save]["interactive"] is False
    tab.stop(request())
    assert sent(racing)[-1]["stopped"]
    assert tab.buttons_now(request())[tab.form.run]["interactive"] is True
    assert tab.buttons_now(request("stranger")) == tab.form.resting(False)


def test_a_race_is_stepped_resumed_and_started_over(tab: RunTab) -> None:
    paused = raced(sent(tab.step(filled(tab), request())))
    buttons = tab.buttons_now(request())
    assert buttons[tab.form.run]["value"] == "Resume"
    assert buttons[tab.form.stop]["value"] == "Start over"
    assert buttons[tab.form.save]["value"]
    assert raced(sent(tab.step(filled(tab), request()))) == paused
    updates = tab.stop_or_discard("Start over", request())
    assert (updates[tab.form.run]["value"], updates[tab.form.stop]["interactive"]) == ("Run", False)
    assert board_message(tab, updates)["notice"].startswith("Paused run discarded")
    begun = sent(tab.step(filled(tab), request()))
    assert raced(begun) != paused
    assert begun[0]["from"] == 0
    ended = sent(tab.run(filled(tab), request()))
    assert (raced(ended), ended[-1]["end"]) == (raced(begun), "length")
    assert tab.buttons_now(request())[tab.form.run]["value"] == "Run"


def test_a_changed_form_starts_a_new_race(tab: RunTab) -> None:
    paused = raced(sent(tab.step(filled(tab), request())))
    other = sent(tab.step(filled(tab, seed=5), request()))
    assert raced(other) != paused
    assert other[-1]["end"] == "paused"


@pytest.mark.parametrize("shown", ["example", "open"])
def test_another_more_runs_screen_ends_the_paused_one(
    tab: RunTab, tmp_path: Path, shown: str
) -> None:
    sent(tab.step(filled(tab), request()))
    file = tmp_path / "race.json"
    shutil.copy(tab.buttons_now(request())[tab.form.save]["value"], file)
    is_example = shown == "example"
    updates = tab.example("welcome", request()) if is_example else tab.open(str(file), request())
    assert updates[tab.form.run]["value"] == "Run"
    assert not tab.sessions.get("one").holding


def test_a_closed_page_frees_the_engine(tab: RunTab, model_host: ModelHost, slow: None) -> None:
    """Guards against an abandoned race that goes on to its end, which takes 10 seconds here. When a
    page is closed, Gradio closes the generator."""
    racing = Reading(tab.run(filled(tab, max_new_tokens=400), request()))
    next(racing)
    next(racing)
    race = tab.sessions.get("one")
    racing.close()
    tab._model_host.leave("one")
    wait(lambda: not race.busy, 2)
    assert len(model_host.queue) == 0
    assert tab.sessions.get("one") is None


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a check run until it is stopped."""
    monkeypatch.setattr(distribution_check, "DRAWS", 100_000)
    monkeypatch.setattr(distribution_check, "SECONDS", 3600.0)


def checked(tab: RunTab) -> tuple[DecodeJob, list[dict[str, Any]], threading.Thread]:
    """A run whose check is running and followed, the messages of the check so far, and the thread
    that receives them."""
    sent(tab.run(filled(tab, check=True, temperature=0.9), request()))
    race = tab.sessions.get("one")
    assert race is not None
    messages: list[dict[str, Any]] = []

    def follow() -> None:
        messages.extend(json.loads(message) for message in Reading(tab.check(request())))

    reader = threading.Thread(target=follow, daemon=True)
    reader.start()
    wait(lambda: messages)
    return race, messages, reader


def test_run_can_be_pressed_while_the_output_is_checked(tab: RunTab, endless: None) -> None:
    """Guards against a check that disables Run. Pressing Run ends the check."""
    first, messages, reader = checked(tab)
    buttons = tab.buttons_now(request())
    assert buttons[tab.form.run]["interactive"] is True
    assert buttons[tab.form.stop]["interactive"] is True
    assert buttons[tab.form.save]["interactive"] is False
    name = first.recording.name
    second = sent(tab.run(filled(tab), request()))
    assert second[-1]["done"]
    assert second[-1]["error"] is None
    assert not first.busy
    reader.join(10)
    assert not reader.is_alive()
    assert {message["run"] for message in messages} <= {name}
    assert raced(second) != name
    kept = tab.run_store.get(name)
    assert kept is not None
    assert kept.results[1].lossless.why in ("stopped", "other_run")  # whichever comes first


def test_a_refused_race_does_not_end_the_check_of_the_last_one(tab: RunTab, endless: None) -> None:
    race, messages, reader = checked(tab)
    (message,) = sent(tab.run(filled(tab, prompt=""), request()))
    assert "the prompt is empty" in message["error"]
    assert race.busy
    tab.stop(request())
    reader.join(10)
    file = tab.buttons_now(request())[tab.form.save]["value"]
    kept = tab.run_store.get(raced(messages))
    assert kept is not None
    assert Path(file).read_text() == kept.log().to_json()


def test_a_check_can_be_stopped(tab: RunTab, endless: None) -> None:
    race, messages, reader = checked(tab)
    tab.stop(request())
    reader.join(10)
    assert not reader.is_alive()
    assert not race.busy
    assert results_of(messages)[1]["lossless"]["count"]["going"] is False
    after = tab.buttons_now(request())
    assert after[tab.form.run]["interactive"] is True
    assert after[tab.form.stop]["interactive"] is False
    assert after[tab.form.save]["value"]


def test_without_a_check_nothing_follows_a_race(tab: RunTab) -> None:
    sent(tab.run(filled(tab), request()))
    assert sent(tab.check(request())) == []
    assert sent(tab.check(request("stranger"))) == []


def test_a_bad_value_is_shown_once_and_nothing_on_screen_is_lost(
    tab: RunTab, popups: list[str]
) -> None:
    lanes = [LANES[0], ("chain", "<img>", "sequoia"), LANES[2], LANES[2]]
    (message,) = sent(tab.run(filled(tab, lanes), request()))
    assert "Lane 2: Nodes: '<img>'; enter a whole number" in message["error"]
    assert message.keys() == {"error", "notice"}
    assert popups == []
    assert tab.sessions.get("one") is None


# -- the form --------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_fills_the_form_and_says_what_it_shows(tab: RunTab, preset: RunPreset) -> None:
    updates = tab.start_with(preset.name)
    parts = tab.form
    assert updates[parts.about] == preset.about
    assert updates[parts.clock] == preset.clock
    assert updates.get(parts.prompt, "") == preset.prompt
    assert updates[parts.second_prompt] == preset.second_prompt
    assert updates.get(parts.temperature) == preset.temperature
    for lane in parts.lanes[len(preset.lanes) :]:
        assert updates[lane.kind]["value"] == NO_LANE
        assert updates[lane.group]["visible"] == "hidden"
    for lane, (kind, numbers, verifier) in zip(parts.lanes, preset.lanes, strict=False):
        assert updates[lane.group]["visible"] is True
        assert updates[lane.kind]["value"] == kind
        assert updates[lane.verifier]["value"] == verifier
        assert updates[lane.numbers]["visible"] is bool(numbers)
        assert updates[lane.numbers].get("value", "") == numbers
    assert updates.keys() <= {*parts.of_a_preset}


@pytest.mark.parametrize("name", [[], "no preset"])
def test_an_unknown_preset_changes_nothing(tab: RunTab, name: Any) -> None:
    """The only update is a `gr.skip()` for the text about the preset."""
    assert [*tab.start_with(name)] == [tab.form.about]


@pytest.mark.parametrize("kind", [*form.SHAPES, "none", None, 3, [], "nothing"])
def test_the_fields_of_a_lane_of_any_kind(tab: RunTab, kind: Any) -> None:
    """The field for numbers is shown if the shape has numbers. The menu of verifiers is shown for
    every shape but "plain". A lane without a shape is hidden."""
    lane = tab.form.lanes[0]
    updates = tab.shaped(lane)(kind)
    is_shape = isinstance(kind, str) and kind in form.SHAPES
    fields = form.SHAPES[kind].fields if is_shape else ()
    assert updates[lane.group]["visible"] == (True if is_shape else "hidden")
    assert updates[lane.numbers]["visible"] is bool(fields)
    assert updates[lane.verifier]["visible"] is (is_shape and kind != "plain")


def test_lanes_are_added_until_there_are_four(tab: RunTab) -> None:
    kinds: list[str] = ["planned", "plain", NO_LANE, NO_LANE]
    for place in (2, 3):
        updates = tab.form.added(*kinds)
        lane = tab.form.lanes[place]
        assert updates[lane.group]["visible"] is True
        kinds[place] = updates[lane.kind]["value"]
        assert updates[tab.form.add]["visible"] is (place == 2)
    assert len({*kinds}) == 4
    assert tab.form.added(*kinds) == {tab.form.add: gr.update(visible=False)}


def test_a_tree_from_design_runs_beside_plain_decoding(tab: RunTab) -> None:
    updates = tab.run_tree(Tree.kary(2, 2), "a100-llama-2-7b-eager", [])
    first, second, *others = tab.form.lanes
    assert (updates[first.kind]["value"], updates[first.numbers]["value"]) == ("lab", "-1 0 0")
    assert updates[second.kind]["value"] == "plain"
    assert {updates[lane.kind]["value"] for lane in others} == {NO_LANE}
    assert updates[tab.form.clock]["value"] == "a100-llama-2-7b-eager"
    assert tab.run_tree(Tree.chain(2), "no clock", [])[tab.form.clock]["value"] == ""


def test_a_suggested_tree_is_copied_to_the_form_of_its_lane(tab: RunTab) -> None:
    updates = tab.apply(event({"lane": 4, "parents": [-1, 0, 0, 1]}))
    fourth = tab.form.lanes[3]
    assert updates[fourth.kind]["value"] == "lab"
    assert updates[fourth.numbers]["value"] == "-1 0 0 1"
    assert updates[fourth.numbers]["visible"] is True
    assert "Lane 4 is now a tree of 4 nodes" in board_message(tab, updates)["notice"]
    assert set(updates) == {tab.stage, *fourth.parts}
    plain = tab.apply(event({"lane": 2, "parents": [-1]}))
    assert plain[tab.form.lanes[1].kind]["value"] == "plain"


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"lane": 9, "parents": [-1]},
        {"lane": 1, "parents": [-1, 7]},
        {"lane": 1, "parents": [-1, *range(2000)]},
    ],
)
def test_a_bad_suggestion_changes_nothing(tab: RunTab, popups: list[str], data: Any) -> None:
    updates = tab.apply(event(data))
    assert [*updates] == [tab.stage]
    assert board_message(tab, updates)["error"].startswith("Not applied: ")
    assert popups == []


OWN = own_profile({**start_values(START), "name": "my card"})


def test_the_visitors_own_profile_can_be_chosen_as_clock(tab: RunTab) -> None:
    store = saved_profiles.add_entry([], OWN)
    key = saved_profiles.SAVED + "my card"
    assert tab.form.profiles in tab.form.form
    offered = tab.form.offer_clocks(store, "")[tab.form.clock]
    assert ("as on “my card” (simulated)", key) in offered["choices"]
    messages = sent(tab.run(filled(tab, clock=key, profiles=store), request()))
    assert messages[-1]["error"] is None
    meta = next(message["meta"] for message in messages if message.get("meta"))
    assert (meta["label"], meta["clock"]) == ("simulated", "my card")
    plain = lane_steps(messages, 0)
    assert plain[0]["seconds"]["verify"] == pytest.approx(OWN.profile.verify_seconds(1), abs=1e-6)
    link = SimpleNamespace(_data=linked(clock=key))
    assert tab.use_link(link, store)[tab.form.clock]["value"] == key
    assert "is not a clock" in json.loads(tab.use_link(link, [])[tab.stage])["error"]


# -- pauses ----------------------------------------------------------------------------------------


def test_a_run_that_was_stopped_before_its_first_step_has_no_file(
    tab: RunTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against offering the previous run's file while the page shows the new run."""
    sent(tab.run(filled(tab), request()))
    assert tab.buttons_now(request())[tab.form.save]["interactive"] is True
    monkeypatch.setattr(Decoder, "prefill", lambda _: tab.stop_or_discard("Stop", request()))
    messages = sent(tab.run(filled(tab, seed=1), request()))
    assert not any(message.get("steps") for message in messages)
    assert tab.buttons_now(request())[tab.form.save]["interactive"] is False


def test_starting_over_works_if_the_paused_run_is_gone_already(tab: RunTab) -> None:
    """A paused run loses its caches if many others were paused after it. Guards against a page that
    then shows Resume for ever."""
    sent(tab.step(filled(tab), request()))
    tab.sessions.get("one").release()
    updates = tab.stop_or_discard("Start over", request())
    assert (updates[tab.form.run]["value"], updates[tab.form.stop]["value"]) == ("Run", "Stop")
    words = json.loads(updates[tab.stage])["notice"]
    assert words.startswith("The paused run can no longer be resumed; its steps stay on screen.")


def test_a_paused_run_cannot_be_resumed_after_other_models_were_loaded(tab: RunTab) -> None:
    sent(tab.step(filled(tab), request()))
    assert tab.buttons_now(request())[tab.form.run]["value"] == "Resume"
    tab.sessions.release_all()  # called before models are unloaded
    updates = tab.buttons_now(request())
    assert updates[tab.form.run]["value"] == "Run"
    assert updates[tab.form.stop]["interactive"] is False


@pytest.mark.parametrize(
    ("date", "name"),
    [
        ("2026-11-22 12:50", "sequoia-run-2026-11-22-1250.json"),
        ("../../2026-11-22 12:50", "sequoia-run.json"),
        (5, "sequoia-run.json"),
    ],
)
def test_a_date_is_in_the_name_of_a_saved_file_only_if_well_formed(date: Any, name: str) -> None:
    assert recordings.file_name({"date": date}) == name


def test_a_file_that_does_not_open_keeps_the_paused_run(
    tab: RunTab, tmp_path: Path, popups: list[str]
) -> None:
    paused = sent(tab.step(filled(tab), request()))[-1]["run"]
    (tmp_path / "bad.json").write_text("{")
    assert tab.form.run not in tab.open(str(tmp_path / "bad.json"), request())
    assert sent(tab.step(filled(tab), request()))[-1]["run"] == paused
    assert popups == []


# -- recordings ------------------------------------------------------------------------------------


def test_a_recorded_run_is_shown_with_its_lanes_and_results(tab: RunTab) -> None:
    message = board_message(tab, tab.example("a100", request()))
    assert message["meta"]["label"] == "simulated"  # the times of another machine
    lanes = message["lanes"]
    assert [lane["name"] for lane in lanes] == ["Plain", "Tuned chain", "Sequoia"]
    assert {"device", "date", "versions", "clock"} <= set(message["meta"])
    for lane in range(len(lanes)):
        assert lane_steps([message], lane)[-1]["finish"] in ("length", "eos")


def test_without_a_recorded_run_the_view_still_opens(
    model_host: ModelHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "welcome.json").write_text("{")
    monkeypatch.setattr(recordings, "RUNS", tmp_path)
    with laid_out():
        tab = RunTab(model_host, LOCAL, header())
        tab.build()
    assert "No recorded run" in board_message(tab, tab.load(request()))["notice"]


def test_a_run_recorded_by_command_is_labelled_recorded(model_host: ModelHost) -> None:
    params = SamplingParams(max_new_tokens=6, seed=3, ignore_eos=True)
    log = record(request_of_preset(PRESETS[0], "def f(x):", params), model_host)
    assert log.meta["label"] == "recorded"
    assert log.lanes[-1].name == "Plain"
    assert log.meta["params"] == asdict(replace(params, ignore_eos=False))
    assert log.results[-1] is None


def test_the_form_opens_with_a_tree_and_plain_decoding_of_the_prompt_shown(tab: RunTab) -> None:
    kinds = [lane.kind.value for lane in tab.form.lanes]
    assert kinds == ["planned", "plain", NO_LANE, NO_LANE]
    assert tab.form.prompt.value == board_message(tab, tab.load(request()))["meta"]["prompt"]


def test_settings_are_copied_to_the_form_and_an_unknown_run_changes_nothing(
    tab: RunTab, popups: list[str]
) -> None:
    asked = filled(tab, temperature=0.3, seed=7)
    name = raced(sent(tab.run(asked, request())))
    updates = tab.take(event({"run": name}))
    for name in ("prompt", "temperature", "top_p", "max_new_tokens", "seed", "clock"):
        field = getattr(tab.form, name)
        assert updates[field]["value"] == asked[field], name
    kinds = [updates[lane.kind]["value"] for lane in tab.form.lanes]
    assert kinds == ["plain", "chain", "kary", NO_LANE]
    example = board_message(tab, tab.example("wide-tree", request()))["run"]
    numbers = tab.take(event({"run": example}))[tab.form.lanes[0].numbers]
    assert numbers["value"] == "64, 6"
    for data in (None, [], {"run": "nobody's"}, {"run": 3}):
        assert [*tab.take(event(data))] == [tab.stage]
    assert popups == []


def test_a_reload_shows_the_race_in_the_address_while_it_is_stored(tab: RunTab) -> None:
    """Any other name in the address gives the recorded race."""
    messages = sent(tab.run(filled(tab), request()))
    tab.buttons_now(request())
    name = messages[-1]["run"]
    again = board_message(tab, tab.load(request("two", run=name)))
    assert (again["run"], again["meta"]["label"], again["done"]) == (name, "measured", True)
    assert again["steps"] == [step for message in messages for step in message.get("steps", [])]
    for asked in ({"run": ""}, {"run": "nobody's"}, {"run": name + "x"}, {}):
        recorded = board_message(tab, tab.load(request("three", **asked)))
        assert recorded["meta"]["label"] == "recorded"


# -- links -----------------------------------------------------------------------------------------


def linked(lanes: Sequence[Lane] = LANES, **changes: Any) -> dict[str, Any]:
    """The values of a form, as a link has them."""
    usual = {
        "prompt": "x = 1",
        "second_prompt": "",
        "chat": False,
        "check": True,
        "temperature": 0.5,
        "top_p": 1,
        "max_new_tokens": 16,
        "seed": 3,
        "clock": "a100-llama-2-7b-eager",
    }
    return {**usual, **values_of(lanes), **changes}


def test_the_values_of_a_link_fill_the_form(tab: RunTab) -> None:
    values = linked()
    updates = tab.use_link(SimpleNamespace(_data={**values, "other": 1}))
    for name, part in tab.form.fields.items():
        if not name.startswith("numbers") or values[name]:
            assert updates[part]["value"] == values[name], name
    assert updates[tab.form.lanes[1].numbers]["visible"] is True
    assert updates[tab.form.lanes[0].numbers]["visible"] is False


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("numbers4", "2", "Lane 4: "),
        ("temperature", 99, "Temperature: 99"),
        ("prompt", {"x": 1}, "the prompt is empty"),
        ("verifier2", {}, "Lane 2: "),
        ("clock", "mine", "Timed on: 'mine' is not a clock"),
    ],
)
def test_a_damaged_link_changes_no_field(tab: RunTab, name: str, value: Any, words: str) -> None:
    updates = tab.use_link(SimpleNamespace(_data=linked(**{name: value})))
    assert [*updates] == [tab.stage]
    error = json.loads(updates[tab.stage])["error"]
    assert error.startswith("The settings of this link are not used: ")
    assert words in error
    assert [*tab.use_link(SimpleNamespace(_data=None))] == [tab.stage]


# -- chats -----------------------------------------------------------------------------------------


def test_the_example_prompts_are_of_the_kind_that_the_loaded_models_answer(
    tab: RunTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, question = presets()[0], chat_presets()[0]
    for template, ours, other in ((None, code, question), (object(), question, code)):
        pair = replace(fakes.tiny_pair(), template=template)
        monkeypatch.setattr(ModelHost, "pair_now", pair)
        updates = tab.chatting(other.text)
        assert updates[tab.form.chat].items() >= {("visible", template is not None)}
        assert "value" not in updates[tab.form.chat]  # which the visitor may have changed
        assert updates[tab.form.prompt]["value"] == ours.text
        assert ours.name in [name for _, name in updates[tab.form.example_prompt]["choices"]]
        assert "value" not in tab.chatting("my own text")[tab.form.prompt]
