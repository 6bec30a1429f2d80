"""The handlers behind the page, called with whatever a client may send."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from visits import Reading, filled, laid_out, request, sent, slowed, wait

from sequoia import Decoder, Run
from ui.decode import form as controls
from ui.decode import recordings
from ui.decode import run as runner
from ui.decode.form_tree import FormTrees
from ui.decode.request import tree_request_of
from ui.decode.tab import LiveView
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.shared.layout import header
from ui.shared.tree_menu import SHAPES, TEXTS


def test_a_run_streams_ends_and_can_be_saved(view: LiveView) -> None:
    messages = sent(view.run(filled(view), request()))
    assert (
        sum(len(step["emitted"]) for message in messages for step in message.get("steps", [])) == 12
    )
    assert messages[-1]["done"]
    after = view.buttons_now(request())
    assert after[view.form.run]["interactive"] is True
    saved = Path(after[view.form.save]["value"])
    assert len(Run.from_json(saved.read_text()).steps) == sum(
        len(message.get("steps", [])) for message in messages
    )


def test_a_run_that_was_stopped_before_its_first_step_has_no_file(
    view: LiveView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against offering the previous run's file while the page shows the new run."""
    sent(view.run(filled(view), request()))
    assert view.buttons_now(request())[view.form.save]["interactive"] is True
    monkeypatch.setattr(Decoder, "prefill", lambda _: view.stop_or_discard("Stop", request()))
    messages = sent(view.run(filled(view, seed=1), request()))
    assert not any(message.get("steps") for message in messages)
    assert view.buttons_now(request())[view.form.save]["interactive"] is False


def test_the_buttons_follow_the_run(view: LiveView, slow: None) -> None:
    running = Reading(view.run(filled(view, max_new_tokens=400, tree="plain"), request()))
    next(running)
    assert view.buttons_now(request()) == view.form.going()
    assert view.form.going()[view.form.stop]["interactive"] is True
    assert view.form.going()[view.form.run]["interactive"] is False
    # disabled, because the button still has the file of the previous run
    assert view.form.going()[view.form.save]["interactive"] is False
    running.close()
    wait(lambda: not view.sessions.get("one").busy, 1)
    assert view.buttons_now(request())[view.form.stop] == gr.update(
        value="Start over", interactive=True
    )
    assert view.buttons_now(request("stranger")) == view.form.resting(False)


def test_a_bad_value_is_shown_once_and_nothing_on_screen_is_lost(
    view: LiveView, popups: list[str]
) -> None:
    messages = sent(view.run(filled(view, temperature=-2), request()))
    assert messages == [
        {"error": "Not started: Temperature: -2 is not a number from 0 to 5", "notice": None}
    ]
    assert popups == []
    assert view.sessions.get("one") is None


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "Decoder", slowed(Decoder))


def test_a_closed_page_frees_the_engine(view: LiveView, model_host: ModelHost, slow: None) -> None:
    """When a page is closed, Gradio closes the generator. Guards against a run that then still goes
    on to its end."""
    running = Reading(view.run(filled(view, max_new_tokens=400, tree="plain"), request()))
    next(running)
    next(running)
    run = view.sessions.get("one")
    running.close()
    wait(lambda: not run.busy, 1)
    assert len(model_host.queue) == 0


def test_run_after_stop_continues(view: LiveView, slow: None) -> None:
    form = filled(view, max_new_tokens=400, tree="plain")
    running = Reading(view.run(form, request()))
    first = [next(running) for _ in range(4)][-1]
    view.stop_or_discard("Stop", request())
    rest = sent(running)
    assert rest[-1]["done"]
    made = rest[-1]["from"] + len(rest[-1]["steps"])
    assert view.buttons_now(request())[view.form.run]["value"] == "Resume"
    again = Reading(view.run(form, request()))
    second = json.loads(next(again))
    again.close()
    assert (second["run"], second["from"]) == (json.loads(first)["run"], made)


def test_step_makes_one_step_and_run_continues_from_there(view: LiveView) -> None:
    form = filled(view)
    names = set()
    count = 0
    for n in range(1, 3):
        messages = sent(view.step(form, request()))
        names |= {message["run"] for message in messages if "run" in message}
        count += sum(len(message.get("steps", [])) for message in messages)
        assert count == n
        assert view.buttons_now(request())[view.form.run]["value"] == "Resume"
    messages = sent(view.run(form, request()))
    assert {message["run"] for message in messages} == names
    assert messages[0]["from"] == 2
    assert view.buttons_now(request())[view.form.run]["value"] == "Run"


def test_a_paused_run_can_be_started_over(view: LiveView) -> None:
    paused = sent(view.step(filled(view), request()))[-1]["run"]
    resting = view.buttons_now(request())
    assert (resting[view.form.stop]["value"], resting[view.form.stop]["interactive"]) == (
        "Start over",
        True,
    )
    # a press while the button still says "Stop" does not discard the paused run
    assert view.stop_or_discard("Stop", request()) == {view.form.stop: gr.skip()}
    updates = view.stop_or_discard("Start over", request())
    assert (updates[view.form.run]["value"], updates[view.form.stop]["interactive"]) == (
        "Run",
        False,
    )
    assert json.loads(updates[view.stage])["notice"].startswith("Paused run discarded")
    begun = sent(view.step(filled(view), request()))
    assert begun[-1]["run"] != paused
    assert begun[0]["from"] == 0


def test_starting_over_works_if_the_paused_run_is_gone_already(view: LiveView) -> None:
    """A paused run loses its caches if many others were paused after it. Guards against a page that
    then shows Resume for ever."""
    sent(view.step(filled(view), request()))
    view.sessions.get("one").release()
    updates = view.stop_or_discard("Start over", request())
    assert (updates[view.form.run]["value"], updates[view.form.stop]["value"]) == ("Run", "Stop")
    words = json.loads(updates[view.stage])["notice"]
    assert words.startswith("The paused run can no longer be resumed; its steps stay on screen.")


def test_a_paused_run_cannot_be_resumed_after_other_models_were_loaded(view: LiveView) -> None:
    sent(view.step(filled(view), request()))
    assert view.buttons_now(request())[view.form.run]["value"] == "Resume"
    view.sessions.release_all()  # called before models are unloaded
    updates = view.buttons_now(request())
    assert updates[view.form.run]["value"] == "Run"
    assert updates[view.form.stop]["interactive"] is False


def test_settings_are_copied_to_the_form_and_bad_ones_change_nothing(
    view: LiveView, popups: list[str]
) -> None:
    form = filled(view, tree="chain", first=5, temperature=0.3, seed=7)
    meta = next(message["meta"] for message in sent(view.run(form, request())) if "meta" in message)
    updates = view.fill(SimpleNamespace(_data=meta))
    for name in (
        "prompt",
        "temperature",
        "top_p",
        "max_new_tokens",
        "seed",
        "verifier",
        "tree",
        "first",
    ):
        field = getattr(view.form, name)
        assert updates[field]["value"] == form[field], name
    for data in (None, [], {**meta, "params": {"temperature": 99}}):
        assert [*view.fill(SimpleNamespace(_data=data))] == [view.stage]
    assert popups == []


@pytest.mark.parametrize(
    "changes",
    [{}, {"tree": "branching", "branching": "2, 1"}, {"tree": "plain", "seed": 2**53 - 1}],
)
def test_the_settings_of_a_link_fill_the_form(view: LiveView, changes: dict[str, Any]) -> None:
    form = filled(view, **changes)
    values = {name: form[getattr(view.form, name)] for name in view.form.names}
    updates = view.use_link(SimpleNamespace(_data=values))
    shape = SHAPES[values["tree"]]
    numbers = ["branching"] if values["tree"] in TEXTS else ["first", "second"][: len(shape.fields)]
    hidden = {"first", "second", "branching"} - {*numbers}
    for name, value in values.items():
        update = updates[getattr(view.form, name)]
        assert update.get("value") == (None if name in hidden else value), name


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("temperature", 99, "temperature: 99"),
        ("prompt", "", "the prompt is empty"),
        ("prompt", {"x": 1}, "the prompt is empty"),
        ("tree", "nonsense", "unknown tree"),
        ("tree", ["planned"], "is not the name of a shape"),
        ("clock", "mine", "is not a clock"),
        ("verifier", None, "verifier"),
        ("first", None, "Children per node"),
    ],
)
def test_a_damaged_link_does_not_change_the_form(
    view: LiveView, popups: list[str], name: str, value: Any, words: str
) -> None:
    """Only `view.stage` changes, to show the error."""
    form = filled(view, **{name: value})
    values = {key: form[getattr(view.form, key)] for key in view.form.names}
    updates = view.use_link(SimpleNamespace(_data=values))
    assert [*updates] == [view.stage]
    error = json.loads(updates[view.stage])["error"]
    assert error.startswith("The settings of this link are not used: ")
    assert words.lower() in error.lower()
    assert [*view.use_link(SimpleNamespace(_data="no"))] == [view.stage]
    assert popups == []


def test_a_changed_form_begins_a_new_run(view: LiveView) -> None:
    first = sent(view.step(filled(view), request()))
    second = sent(view.step(filled(view, seed=9), request()))
    assert first[-1]["run"] != second[-1]["run"]
    assert second[0]["from"] == 0


def test_a_reload_shows_the_run_in_the_address_or_the_recorded_one(view: LiveView) -> None:
    messages = sent(view.run(filled(view), request()))
    again = json.loads(view.load(request("two", run=messages[-1]["run"]))[view.stage])
    assert again["run"] == messages[-1]["run"]
    assert len(again["steps"]) == sum(len(message.get("steps", [])) for message in messages)
    assert (
        json.loads(view.load(request("two", run="nothing"))[view.stage])["meta"]["label"]
        == "recorded"
    )


def test_a_saved_run_is_opened_and_a_spoiled_one_changes_nothing(
    view: LiveView, popups: list[str], tmp_path: Path
) -> None:
    sent(view.run(filled(view), request()))
    good = tmp_path / "good.json"
    shutil.copy(view.buttons_now(request())[view.form.save]["value"], good)
    assert json.loads(view.open(str(good), request())[view.stage])["meta"]["label"] == "recorded"
    good.write_text(good.read_text()[:-9])
    update = view.open(str(good), request())
    assert [*update] == [view.stage]
    message = json.loads(update[view.stage])
    assert message["error"].startswith("Not opened: not a JSON file")
    assert "run" not in message
    assert popups == []


@pytest.mark.parametrize(
    ("date", "name"),
    [
        ("2026-11-22 12:50", "sequoia-run-2026-11-22-1250.json"),
        ("../../2026-11-22 12:50", "sequoia-run.json"),
        (5, "sequoia-run.json"),
    ],
)
def test_a_date_is_in_the_name_of_a_saved_file_only_if_well_formed(date: Any, name: str) -> None:
    assert recordings.file_name("run", {"date": date}) == name


def test_only_a_change_of_a_runs_fields_turns_resume_into_run(model_host: ModelHost) -> None:
    with gr.Blocks() as blocks:
        view = LiveView(model_host, LOCAL, header())
        view.build()
        view.wire(blocks)
    (changed,) = [fn for fn in blocks.fns.values() if "web.changed(" in str(fn.js)]
    fields = {getattr(view.form, name)._id for name in view.form.names}
    assert set(changed.targets) == {(field, "change") for field in fields}


@pytest.mark.parametrize("shown", ["example", "open"])
def test_another_run_on_screen_ends_the_paused_one(
    view: LiveView, tmp_path: Path, shown: str
) -> None:
    """Guards against a Resume or a Step that continues a run other than the one on screen."""
    sent(view.run(filled(view), request()))
    file = tmp_path / "run.json"
    shutil.copy(view.buttons_now(request())[view.form.save]["value"], file)
    paused = sent(view.step(filled(view), request()))[-1]["run"]
    assert view.buttons_now(request())[view.form.run]["value"] == "Resume"
    updates = (
        view.example("welcome", request())
        if shown == "example"
        else view.open(str(file), request())
    )
    assert updates[view.form.run]["value"] == "Run"
    begun = sent(view.step(filled(view), request()))
    assert begun[-1]["run"] != paused
    assert begun[0]["from"] == 0


def test_a_file_that_does_not_open_keeps_the_paused_run(
    view: LiveView, tmp_path: Path, popups: list[str]
) -> None:
    paused = sent(view.step(filled(view), request()))[-1]["run"]
    (tmp_path / "bad.json").write_text("{")
    assert view.form.run not in view.open(str(tmp_path / "bad.json"), request())
    assert sent(view.step(filled(view), request()))[-1]["run"] == paused
    assert popups == []


@pytest.mark.parametrize("kind", [*controls.SHAPES, None, 3, "nothing", []])
def test_fields_of_any_shape(model_host: ModelHost, kind: Any) -> None:
    """Each shape shows the fields that it needs. An unknown shape shows none."""
    with laid_out():
        trees = FormTrees(model_host, LOCAL, tree_request_of)
        form = controls.controls(trees, gr.BrowserState([]))
    updates = form.shaped(kind)
    shown = [updates[field]["visible"] for field in (form.first, form.second, form.branching)]
    shape = SHAPES.get(kind) if isinstance(kind, str) else None
    count = len(shape.fields) if shape else 0
    is_text = bool(shape) and kind in TEXTS
    assert shown == [count > 0 and not is_text, count > 1, is_text]
    if shape:
        assert updates[form.tree]["info"] == shape.about
