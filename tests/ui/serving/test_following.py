"""A visitor who waits in the queue may follow the current run: they see, read-only, what the
visitor who started it sees. On a public page, the visitor who started the run must allow this,
because strangers would see the prompt."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from visits import PLAIN, Gate, Reading, filled, laid_out, request, sent, wait

from ui.run.tab import RunTab
from ui.serving.limits import LOCAL, PUBLIC, Limits
from ui.serving.model_host import ModelHost
from ui.shared.layout import header

PROMPT = "def secret(x):"


@pytest.fixture
def make_view(model_host: ModelHost, monkeypatch: pytest.MonkeyPatch) -> Callable[[Limits], RunTab]:
    """Makes a view. Its followers end soon after a run."""
    monkeypatch.setattr("ui.serving.job._JUST_NOW", 0.3)

    def made(limits: Limits) -> RunTab:
        with laid_out():
            view = RunTab(model_host, limits, header())
            view.build()
        return view

    return made


def form(view: RunTab, shared: bool = False) -> dict[Any, Any]:
    return {**filled(view, [PLAIN], prompt=PROMPT), view.form.shared: shared}


def begin(view: RunTab, gate: Gate, shared: bool = False) -> Reading:
    """Start the run of visitor "one", and read its first two steps."""
    running = Reading(view.run(form(view, shared), request("one")))
    gate.passes.release(2)
    steps = 0
    while steps < 2:
        steps += len(json.loads(next(running)).get("steps", ()))
    return running


def test_a_follower_gets_the_whole_run_marked_as_followed(
    make_view: Callable[[Limits], RunTab], gate: Gate
) -> None:
    view = make_view(LOCAL)
    running = begin(view, gate)
    following = Reading(view.follow(request("two")))
    first = json.loads(next(following))
    assert len(first["steps"]) == 2
    assert first["meta"]["prompt"] == PROMPT
    assert first["done"] is False
    gate.open()
    own = sent(running)
    time.sleep(0.4)  # a follower whose connection is slow still gets the end
    rest = sent(following)
    assert all(message["followed"] for message in [first, *rest])
    assert "followed" not in own[-1]
    numbers = [
        message["from"] + k for message in [first, *rest] for k in range(len(message["steps"]))
    ]
    assert numbers == list(range(12))
    assert rest[-1]["done"] is True


def test_a_waiting_visitor_may_follow_the_current_run_and_then_gets_their_own(
    make_view: Callable[[Limits], RunTab], gate: Gate
) -> None:
    view = make_view(LOCAL)
    running = begin(view, gate)
    waiting = Reading(view.run(form(view), request("two")))
    message = json.loads(next(waiting))
    assert "1 run ahead of you, " in message["notice"]
    assert message["follow"] is True
    assert message["wait"]["ahead"] == 1
    assert message["wait"]["seconds"] >= 0  # 0: the run ahead is about to end
    following = Reading(view.follow(request("two")))
    assert json.loads(next(following))["followed"] is True
    gate.open()
    sent(running)
    last = sent(waiting)[-1]
    assert last["done"] is True
    assert "follow" not in last
    assert all(message["followed"] for message in sent(following))


def test_on_a_public_page_nobody_follows_unless_the_runs_visitor_allows_it(
    make_view: Callable[[Limits], RunTab], gate: Gate
) -> None:
    view = make_view(replace(PUBLIC, waiting=4))
    assert view.form.shared.visible is True
    assert view.form.shared.value is False
    running = begin(view, gate)
    assert sent(view.follow(request("two"))) == []
    waiting = Reading(view.run(form(view), request("two")))
    message = json.loads(next(waiting))
    assert "follow" not in message
    assert "follow" not in message["notice"]
    waiting.close()
    gate.open()
    sent(running)
    gate.passes = type(gate.passes)(0)
    wait(lambda: not view.sessions.in_line)
    running = begin(view, gate, shared=True)
    following = Reading(view.follow(request("two")))
    assert json.loads(next(following))["meta"]["prompt"] == PROMPT
    following.close()
    gate.open()
    sent(running)


def test_a_run_whose_page_has_gone_ends_for_its_followers(
    make_view: Callable[[Limits], RunTab], gate: Gate
) -> None:
    view = make_view(LOCAL)
    running = begin(view, gate)
    following = Reading(view.follow(request("two")))
    next(following)
    running.close()
    gate.open()
    assert all(message["followed"] for message in sent(following))


def test_a_visitor_who_stops_sharing_is_no_longer_followed(
    make_view: Callable[[Limits], RunTab], gate: Gate
) -> None:
    view = make_view(PUBLIC)
    running = begin(view, gate, shared=True)
    following = Reading(view.follow(request("two")))
    next(following)
    job = view.sessions.get("one")
    assert job is not None
    job.is_shared = False
    gate.open()
    sent(running)
    assert sent(following) == []
