"""The server's answer to a page that asks for the state of its job, and the jobs of one visitor in
all views. Guards against buttons that stay off because the page never heard that a job ended."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from visits import Gate, Reading, filled, laid_out, request, sent, wait

from ui.hardware.tab import HardwareTab
from ui.run.decode_job import DecodeJob
from ui.run.tab import RunTab
from ui.serving import job
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost


def asked(heard: bool, over: bool = False) -> SimpleNamespace:
    """What the page sends to ask for the state of its job. heard: whether it has received a message
    from the job. over: whether it knows how the job ended or why it was refused."""
    return SimpleNamespace(_data={"heard": heard, "over": over})


def measuring(hardware: HardwareTab) -> dict[Any, Any]:
    """The form of the Hardware view when Measure is pressed."""
    form = dict.fromkeys((hardware.form.profile, hardware.form.against, hardware.form.rates))
    return {**form, hardware.form.nodes: None, hardware.form.store: []}


def error(view: RunTab, updates: dict[Any, Any]) -> str:
    return json.loads(updates[view.stage])["error"]


def test_a_press_that_never_arrived_is_reported(view: RunTab) -> None:
    """The page gets an error message, and its buttons can be pressed again."""
    updates = view.job_state(asked(heard=False), request())
    assert updates[view.form.run]["interactive"] is True
    assert updates[view.form.step]["interactive"] is True
    assert "did not accept the request" in error(view, updates)


def test_a_page_that_knows_why_its_job_ended_gets_no_other_reason(view: RunTab) -> None:
    """If the server is slow to set the buttons, a page asks although it shows why its job was
    refused. Guards against replacing that reason with "The connection to the server was lost"."""
    updates = view.job_state(asked(heard=True, over=True), request())
    assert updates[view.form.run]["interactive"] is True
    assert view.stage not in updates


def test_a_run_whose_messages_broke_off_can_be_resumed(view: RunTab, gate: Gate) -> None:
    gate.passes.release(2)
    running = Reading(view.run(filled(view), request()))
    while "steps" not in json.loads(next(running)):
        pass
    updates = view.job_state(asked(heard=True), request())
    assert view.stage not in updates
    assert updates == view.form.going()
    running.close()
    gate.open()
    wait(lambda: not view.sessions.in_line)
    updates = view.job_state(asked(heard=True), request())
    assert updates[view.form.run] == gr.update(interactive=True, value="Resume")
    assert "this run paused. Press Resume." in error(view, updates)


def test_a_start_that_waits_holds_up_no_other_page(view: RunTab, model_host: ModelHost) -> None:
    """Guards against a server that answers nobody while one visitor's job is being started."""
    with laid_out():
        view.build()
        hardware = HardwareTab(model_host, LOCAL, view)
        hardware.build()
    starting = model_host.starting
    starting.acquire()
    release = threading.Timer(4, starting.release)
    release.start()

    async def others_are_answered() -> bool:
        handler = hardware.measure(measuring(hardware), request())
        measured = asyncio.ensure_future(anext(handler))
        await asyncio.sleep(0.05)
        meanwhile = starting.locked()
        release.cancel()
        if meanwhile:
            starting.release()
        await measured
        await handler.aclose()
        return meanwhile

    assert asyncio.run(others_are_answered())
    wait(lambda: not hardware.sessions.in_line)


def test_a_job_that_nobody_reads_is_dropped(
    make: Callable[..., DecodeJob], model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "UNREAD_SECONDS", 0.0)
    with model_host.queue.turn(lambda: False, lambda _: None):
        unread = make()
        unread.start()
        wait(lambda: not unread.busy)
    assert sent(unread.messages())[-1]["notice"] == "Stopped."


def test_a_run_that_is_continued_after_a_long_pause_is_not_dropped(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step's thread looks for a reader before the page has begun to read again. Guards against
    dropping the step because nobody read during the pause."""
    monkeypatch.setattr(job, "UNREAD_SECONDS", 2.0)
    paused = make()
    paused.start(1)
    sent(paused.messages())
    paused._inbox._read_at -= 60
    paused.start(1)
    wait(lambda: not paused.busy)
    assert sent(paused.messages())[-1]["end"] == "paused"


def test_a_run_that_ends_while_the_page_asks_is_not_called_lost(
    view: RunTab, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against showing the buttons of a running job beside a sentence that says that the job
    has ended."""
    running = Reading(view.run(filled(view), request()))
    next(running)
    buttons_now = view.buttons_now

    def ends(of: Any) -> dict[Any, Any]:
        updates = buttons_now(of)
        gate.open()
        wait(lambda: not view.sessions.in_line)
        return updates

    monkeypatch.setattr(view, "buttons_now", ends)
    assert view.job_state(asked(heard=True), request()) == view.form.going()
    sent(running)


def test_a_run_whose_last_message_is_on_its_way_is_not_called_lost(view: RunTab) -> None:
    """Guards against a page that asks before it has the last message, as on a slow machine, and
    then shows that a run which ended well was lost."""
    sent(view.run(filled(view), request()))
    updates = view.job_state(asked(heard=True), request())
    assert updates[view.form.run]["interactive"] is True
    assert view.stage not in updates
    assert "did not accept" in error(view, view.job_state(asked(heard=False), request()))
