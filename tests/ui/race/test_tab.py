"""The handlers behind the race view, called with whatever a client may send."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import AsyncIterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from visits import Reading, laid_out, request, sent, slowed, wait

import ui.race.run
from sequoia import Race, SamplingParams
from sequoia.assets_folder import ASSETS
from sequoia.saved_files.race_file import RaceLog
from ui import page
from ui.decode.clocks import checked_clock
from ui.decode.tab import LiveView
from ui.hardware.own_profile import START, own_profile, start_values
from ui.race import distribution_check, form, race_on
from ui.race import recordings as race_recordings
from ui.race.form import PARAMS
from ui.race.presets import PRESETS, RacePreset
from ui.race.presets import START as OPENING
from ui.race.request import NO_LANE
from ui.race.run import RaceJob
from ui.race.tab import RaceTab
from ui.record.runs import record_race
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.shared import saved_profiles
from ui.shared.layout import header

LANES = [
    ("plain", "", "sequoia"),
    ("chain", "4", "sequoia"),
    ("none", "", "sequoia"),
    ("kary", "2, 3", "specinfer"),
]


@pytest.fixture
def tab(model_host: ModelHost, view: LiveView) -> RaceTab:
    with laid_out():
        tab = RaceTab(model_host, LOCAL, view)
        tab.build()
    return tab


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ui.race.run, "Race", slowed(Race))


def wired(model_host: ModelHost) -> tuple[gr.Blocks, RaceTab]:
    """A page, and the tab in it with its handlers connected."""
    with gr.Blocks() as blocks:
        live = LiveView(model_host, LOCAL, header())
        live.build()
        tab = RaceTab(model_host, LOCAL, live)
        tab.build()
        tab.wire(blocks)
    return blocks, tab


def filled(tab: RaceTab, lanes: list[Any] | None = None, **changes: Any) -> dict[Any, Any]:
    values = {
        "prompt": "def f(x):",
        "temperature": 0.0,
        "top_p": 1.0,
        "max_new_tokens": 10,
        "seed": 0,
        "check": False,
        "chat": True,
        "clock": "",
        "second_prompt": "",
        "profiles": [],
        **changes,
    }
    data: dict[Any, Any] = {getattr(tab.form, name): value for name, value in values.items()}
    for parts, (kind, numbers, verifier) in zip(tab.form.lanes, lanes or LANES, strict=True):
        data |= {parts.kind: kind, parts.numbers: numbers, parts.verifier: verifier}
    return data


def raced(messages: list[dict[str, Any]]) -> str:
    """The name of the race that `messages` belong to."""
    return messages[-1]["race"]


def lane_steps(messages: list[dict[str, Any]], lane: int) -> list[dict[str, Any]]:
    return [
        step
        for message in messages
        for step, one in zip(message.get("steps", []), message.get("step_lanes", []), strict=True)
        if one == lane
    ]


def results_of(messages: list[dict[str, Any]]) -> list[Any]:
    """The last results sent."""
    return [message["results"] for message in messages if message.get("results")][-1]


def event(data: Any) -> SimpleNamespace:
    return SimpleNamespace(_data=data)


def board_message(tab: RaceTab, updates: dict[Any, Any]) -> dict[str, Any]:
    return json.loads(updates[tab.stage])


# -- racing ----------------------------------------------------------------------------------------


def test_a_race_streams_ends_and_can_be_saved(tab: RaceTab) -> None:
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
    tab: RaceTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against further runs that are made twice because two visitors asked for them."""
    monkeypatch.setattr(race_on, "Race", slowed(Race))
    name = raced(sent(tab.run(filled(tab), request())))
    tab.buttons_now(request())

    async def both() -> list[dict[str, Any]]:
        asked = [tab.race_on(event({"race": name}), request(who)) for who in ("one", "two")]
        first = await asyncio.gather(*map(anext, asked))
        for going_on in asked:
            await going_on.aclose()
        return list(map(json.loads, first))

    errors = [message.get("error") for message in asyncio.run(both())]
    assert sorted(map(bool, errors)) == [False, True]
    assert "Not continued: further runs of this race are being made already" in errors
    wait(lambda: not tab.sessions.in_line)


def test_a_race_has_one_output_and_waits_in_the_common_queue(model_host: ModelHost) -> None:
    """Guards against more than one output: each costs milliseconds at every message. Also guards
    against a race that runs at the same time as another run."""
    blocks, tab = wired(model_host)
    runs = [fn for fn in blocks.fns.values() if fn.concurrency_id == "engine"]
    # Run and Step with the check after each, and further runs
    assert [run.outputs for run in runs] == [[tab.stage]] * 5


def test_the_buttons_follow_the_race(tab: RaceTab, slow: None) -> None:
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


def test_a_race_is_stepped_resumed_and_started_over(tab: RaceTab) -> None:
    paused = raced(sent(tab.step(filled(tab), request())))
    buttons = tab.buttons_now(request())
    assert buttons[tab.form.run]["value"] == "Resume"
    assert buttons[tab.form.stop]["value"] == "Start over"
    assert buttons[tab.form.save]["value"]
    assert raced(sent(tab.step(filled(tab), request()))) == paused
    updates = tab.stop_or_discard("Start over", request())
    assert (updates[tab.form.run]["value"], updates[tab.form.stop]["interactive"]) == ("Run", False)
    assert board_message(tab, updates)["notice"].startswith("Paused race discarded")
    begun = sent(tab.step(filled(tab), request()))
    assert raced(begun) != paused
    assert begun[0]["from"] == 0
    ended = sent(tab.run(filled(tab), request()))
    assert (raced(ended), ended[-1]["end"]) == (raced(begun), "length")
    assert tab.buttons_now(request())[tab.form.run]["value"] == "Run"


def test_a_changed_form_starts_a_new_race(tab: RaceTab) -> None:
    paused = raced(sent(tab.step(filled(tab), request())))
    other = sent(tab.step(filled(tab, seed=5), request()))
    assert raced(other) != paused
    assert other[-1]["end"] == "paused"


@pytest.mark.parametrize("shown", ["example", "open"])
def test_another_race_on_screen_ends_the_paused_one(
    tab: RaceTab, tmp_path: Path, shown: str
) -> None:
    sent(tab.step(filled(tab), request()))
    file = tmp_path / "race.json"
    shutil.copy(tab.buttons_now(request())[tab.form.save]["value"], file)
    is_example = shown == "example"
    updates = tab.example(request()) if is_example else tab.open(str(file), request())
    assert updates[tab.form.run]["value"] == "Run"
    assert not tab.sessions.get("one").holding


def test_a_closed_page_frees_the_engine(tab: RaceTab, model_host: ModelHost, slow: None) -> None:
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


def checked(tab: RaceTab) -> tuple[RaceJob, list[dict[str, Any]], threading.Thread]:
    """A race whose check is running, a list that gets the check's messages when the check ends, and
    the thread that receives them."""
    sent(tab.run(filled(tab, check=True, temperature=0.9), request()))
    race = tab.sessions.get("one")
    assert race is not None
    messages: list[dict[str, Any]] = []
    reader = threading.Thread(
        target=lambda: messages.extend(sent(tab.check(request()))), daemon=True
    )
    reader.start()
    return race, messages, reader


def test_run_can_be_pressed_while_the_output_is_checked(tab: RaceTab, endless: None) -> None:
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
    assert {message["race"] for message in messages} <= {name}
    assert raced(second) != name
    kept = tab.stored.newest.get(name)
    assert kept is not None
    assert kept.results[1].lossless.why in ("stopped", "other_run")  # whichever comes first


def test_a_refused_race_does_not_end_the_check_of_the_last_one(tab: RaceTab, endless: None) -> None:
    race, messages, reader = checked(tab)
    (message,) = sent(tab.run(filled(tab, prompt=""), request()))
    assert "the prompt is empty" in message["error"]
    assert race.busy
    tab.stop(request())
    reader.join(10)
    file = tab.buttons_now(request())[tab.form.save]["value"]
    kept = tab.stored.newest.get(raced(messages))
    assert kept is not None
    assert Path(file).read_text() == tab.stored.file_text(kept)


@pytest.fixture
def analysis(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """No race is analysed until this event is set."""
    may_begin = threading.Event()
    judge = RaceJob._judge

    def judge_later(race: RaceJob, finished: Any) -> None:
        assert may_begin.wait(10)
        judge(race, finished)

    monkeypatch.setattr(RaceJob, "_judge", judge_later)
    yield may_begin
    may_begin.set()


async def collected(handler: AsyncIterable[str]) -> list[dict[str, Any]]:
    return [json.loads(message) async for message in handler]


def test_further_runs_that_wait_for_the_analysis_can_be_stopped(
    tab: RaceTab, analysis: threading.Event
) -> None:
    async def pressed() -> list[list[dict[str, Any]]]:
        race = asyncio.create_task(collected(tab.run(filled(tab), request())))
        while not (job := tab.sessions.get("one")) or not job.analysing:
            await asyncio.sleep(0.01)
        asked = event({"race": job.recording.name})
        further = asyncio.create_task(collected(tab.race_on(asked, request())))
        await asyncio.sleep(0.1)
        assert not further.done()
        tab.stop(request())
        analysis.set()
        return await asyncio.gather(race, further)

    race, further = asyncio.run(asyncio.wait_for(pressed(), 10))
    assert race[-1]["done"]
    assert [message["error"] for message in further] == ["Not continued: Stop was pressed"]
    assert tab.buttons_now(request())[tab.form.save]["value"]


def test_a_check_can_be_stopped(tab: RaceTab, endless: None) -> None:
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


def test_without_a_check_nothing_follows_a_race(tab: RaceTab) -> None:
    sent(tab.run(filled(tab), request()))
    assert sent(tab.check(request())) == []
    assert sent(tab.check(request("stranger"))) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"lanes": [LANES[0], ("chain", "<img>", "sequoia"), LANES[2], LANES[2]]},
            "Lane 2: Nodes: '<img>'; enter a whole number",
        ),
    ],
)
def test_a_bad_value_is_shown_once_and_nothing_on_screen_is_lost(
    tab: RaceTab, popups: list[str], changes: dict[str, Any], words: str
) -> None:
    messages = sent(tab.run(filled(tab, **changes), request()))
    assert len(messages) == 1
    assert words in messages[0]["error"]
    assert messages[0].keys() == {"error", "notice"}
    assert popups == []
    assert tab.sessions.get("one") is None


# -- the form --------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_fills_the_form_and_says_what_it_shows(tab: RaceTab, preset: RacePreset) -> None:
    updates = tab.start_with(preset.name)
    parts = tab.form
    assert updates[parts.about] == preset.about
    assert updates[parts.clock] == preset.clock
    assert updates.get(parts.prompt, "") == preset.prompt
    assert updates[parts.second_prompt] == preset.second_prompt
    assert updates.get(parts.temperature) == preset.temperature
    for lane, (kind, numbers, verifier) in zip(parts.lanes, preset.all_lanes, strict=True):
        assert updates[lane.kind] == kind
        assert updates[lane.verifier]["value"] == verifier
        assert updates[lane.numbers]["visible"] is bool(numbers)
        assert updates[lane.numbers].get("value", "") == numbers
    assert updates.keys() <= {*parts.of_a_preset}


@pytest.mark.parametrize("name", [[], "no preset"])
def test_an_unknown_preset_changes_nothing(tab: RaceTab, name: Any) -> None:
    """The only update is a `gr.skip()` for the text about the preset."""
    assert [*tab.start_with(name)] == [tab.form.about]


def test_a_new_clock_or_lane_detail_clears_the_text_about_the_preset(
    model_host: ModelHost,
) -> None:
    """Guards against "planned for this machine" above trees planned for another machine."""
    blocks = page.page(model_host, LOCAL)
    (cleared,) = [one.targets for one in blocks.fns.values() if one.js == "() => ''"]
    names = {blocks.blocks[number].elem_id for number, _ in cleared}
    fields = {f"rc-{name}-{number}" for name in ("numbers", "verifier") for number in range(1, 5)}
    assert names == {"rc-clock", *fields}
    assert {event for _, event in cleared} == {"input"}


@pytest.mark.parametrize("kind", [*form.SHAPES, "none", None, 3, [], "nothing"])
def test_details_of_any_kind(kind: Any) -> None:
    """The field for numbers is shown if the shape has numbers. The menu of verifiers is shown for
    every shape but "plain". An empty lane and a lane of an unknown kind show neither."""
    numbers, verifier = form.details_of(kind)
    fields = form.SHAPES[kind].fields if isinstance(kind, str) and kind in form.SHAPES else ()
    assert numbers["visible"] is bool(fields)
    assert verifier["visible"] is (
        isinstance(kind, str) and kind in form.SHAPES and kind != "plain"
    )


def test_a_lane_takes_the_labs_tree_from_the_decode_form(tab: RaceTab) -> None:
    assert tab.details("lab", "lab", "-1 0 1")[0]["value"] == "-1 0 1"
    assert tab.details("lab", "planned", "4, 2")[0]["value"] == "-1 0 0 1"
    assert tab.details("chain", "lab", "-1 0 1")[0]["value"] == "6"
    assert tab.details([], "lab", None)[0]["visible"] is False


def test_a_suggested_tree_is_copied_to_the_form_of_its_lane(tab: RaceTab) -> None:
    updates = tab.apply(event({"lane": 4, "parents": [-1, 0, 0, 1]}))
    fourth = tab.form.lanes[3]
    assert updates[fourth.kind] == "lab"
    assert updates[fourth.numbers]["value"] == "-1 0 0 1"
    assert updates[fourth.numbers]["visible"] is True
    assert "Lane 4 is now a tree of 4 nodes" in board_message(tab, updates)["notice"]
    assert set(updates) == {tab.stage, fourth.kind, fourth.numbers, fourth.verifier}
    plain = tab.apply(event({"lane": 2, "parents": [-1]}))
    assert plain[tab.form.lanes[1].kind] == "plain"


@pytest.mark.parametrize(
    "data",
    [
        None,
        {"lane": 9, "parents": [-1]},
        {"lane": 1, "parents": [-1, 7]},
        {"lane": 1, "parents": [-1, *range(2000)]},
    ],
)
def test_a_bad_suggestion_changes_nothing(tab: RaceTab, popups: list[str], data: Any) -> None:
    updates = tab.apply(event(data))
    assert [*updates] == [tab.stage]
    assert board_message(tab, updates)["error"].startswith("Not applied: ")
    assert popups == []


OWN = own_profile({**start_values(START), "name": "my card"})


def test_the_visitors_own_profile_can_be_chosen_as_clock(tab: RaceTab) -> None:
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
    link = SimpleNamespace(_data=linked(tab, clock=key))
    assert tab.use_link(link, store)[tab.form.clock]["value"] == key
    assert "is not a clock" in json.loads(tab.use_link(link, [])[tab.stage])["error"]


# -- recordings ------------------------------------------------------------------------------------


def test_the_view_opens_with_a_recorded_race(tab: RaceTab) -> None:
    message = board_message(tab, tab.example(request()))
    assert message["meta"]["label"] == "simulated"  # the times of another machine
    lanes = message["lanes"]
    assert [lane["name"] for lane in lanes] == ["Plain", "Tuned chain", "Sequoia"]
    assert {"device", "date", "versions", "clock"} <= set(message["meta"])
    assert [
        result["lossless"]["kind"] for result in message["results"] if result and result["lossless"]
    ] == ["fits"] * 2
    for lane in range(len(lanes)):
        assert lane_steps([message], lane)[-1]["finish"] in ("length", "eos")


def test_without_a_recorded_race_the_view_still_opens(
    model_host: ModelHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "welcome.json").write_text("{")
    monkeypatch.setattr(race_recordings, "RACES", tmp_path)
    with laid_out():
        tab = RaceTab(model_host, LOCAL, LiveView(model_host, LOCAL, header()))
        tab.build()
    assert "No recorded race" in board_message(tab, tab.example(request()))["notice"]


def test_a_saved_race_is_opened_and_a_spoiled_one_changes_nothing(
    tab: RaceTab, popups: list[str], tmp_path: Path
) -> None:
    sent(tab.run(filled(tab), request()))
    good = tmp_path / "good.json"
    shutil.copy(tab.buttons_now(request())[tab.form.save]["value"], good)
    message = board_message(tab, tab.open(str(good), request()))
    assert message["meta"]["label"] == "recorded"
    good.write_text(good.read_text()[:-9])
    updates = tab.open(str(good), request())
    assert [*updates] == [tab.stage]
    assert board_message(tab, updates)["error"].startswith("Not opened: not a JSON file")
    assert popups == []


def test_a_race_recorded_by_command_is_labelled_recorded(
    tab: RaceTab, model_host: ModelHost
) -> None:
    params = SamplingParams(max_new_tokens=6, seed=3, ignore_eos=True)
    log = RaceLog.from_json(record_race(PRESETS[0], "def f(x):", params, False, model_host))
    assert log.meta["label"] == "recorded"
    assert log.lanes[0].name == "Plain"
    assert log.meta["params"] == asdict(replace(params, ignore_eos=False))
    assert log.results[0] is None


def test_a_run_file_is_not_a_race(tab: RaceTab) -> None:
    path = ASSETS / "runs" / "welcome.json"
    assert "not a sequoia-race file" in board_message(tab, tab.open(str(path), request()))["error"]


def test_the_form_opens_with_the_experiment_of_the_race_shown(tab: RaceTab) -> None:
    form, meta = tab.form, tab.stored.welcome.meta
    entry = checked_clock(form.clock.value)
    assert entry is not None
    assert entry.name == meta["clock"]
    assert OPENING.about == form.about.value
    settings = {name: getattr(form, name).value for name in PARAMS}
    assert settings.items() <= meta["params"].items()
    raced = [lane["kind"] for lane in tab.stored.welcome.lanes]
    asked = [lane.kind.value for lane in form.lanes]
    assert asked[: len(raced)] == raced
    assert set(asked[len(raced) :]) == {NO_LANE}
    assert form.prompt.value == meta["prompt"]


def test_a_reload_shows_the_race_in_the_address_while_it_is_stored(tab: RaceTab) -> None:
    """Any other name in the address gives the recorded race."""
    messages = sent(tab.run(filled(tab), request()))
    tab.buttons_now(request())
    name = messages[-1]["race"]
    again = board_message(tab, tab.load(request("two", race=name)))
    assert (again["race"], again["meta"]["label"], again["done"]) == (name, "measured", True)
    assert again["steps"] == [step for message in messages for step in message.get("steps", [])]
    for asked in ({"race": ""}, {"race": "nobody's"}, {"race": name + "x"}, {}):
        recorded = board_message(tab, tab.load(request("three", **asked)))
        assert recorded["race"] == tab.stored.welcome.name
        assert recorded["meta"]["label"] == "simulated"  # the recorded race has simulated times


# -- links -----------------------------------------------------------------------------------------


def linked(tab: RaceTab, **changes: Any) -> dict[str, Any]:
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
    lanes = {
        f"{name}{number}": value
        for number, lane in enumerate(LANES, start=1)
        for name, value in zip(("kind", "numbers", "verifier"), lane, strict=True)
    }
    return {**usual, **lanes, **changes}


def test_the_lanes_of_a_link_fill_the_form(tab: RaceTab) -> None:
    values = linked(tab)
    updates = tab.use_link(SimpleNamespace(_data={**values, "other": 1}))
    unused = {"numbers1", "numbers3", "verifier3"}  # lane 1 is plain, and lane 3 is empty
    parts = {name: part for name, part in tab.form.fields.items() if name not in unused}
    assert all(updates[part]["value"] == values[name] for name, part in parts.items())
    assert updates[tab.form.lanes[1].numbers]["visible"] is True
    assert updates[tab.form.lanes[0].numbers]["visible"] is False


@pytest.mark.parametrize("value", ["zzz", {}, None])
def test_a_link_does_not_change_fields_that_its_lanes_do_not_use(tab: RaceTab, value: Any) -> None:
    unused = {"numbers1": value, "numbers3": value, "verifier3": value}
    updates = tab.use_link(SimpleNamespace(_data=linked(tab, **unused)))
    assert tab.form.prompt in updates
    assert all("value" not in updates[tab.form.fields[name]] for name in unused)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("numbers4", "2", "Lane 4: "),
        ("verifier2", {}, "Lane 2: "),
        ("clock", "mine", "Timed on: 'mine' is not a clock"),
    ],
)
def test_a_damaged_link_changes_no_field(tab: RaceTab, name: str, value: Any, words: str) -> None:
    updates = tab.use_link(SimpleNamespace(_data=linked(tab, **{name: value})))
    assert [*updates] == [tab.stage]
    error = json.loads(updates[tab.stage])["error"]
    assert error.startswith("The settings of this link are not used: ")
    assert words in error
    assert [*tab.use_link(SimpleNamespace(_data=None))] == [tab.stage]
