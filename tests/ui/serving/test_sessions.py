"""Admission: one run per visitor in all views, limits on sessions, on caches and on the runs of an
address, and a visitor who left is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from visits import request

from sequoia import Pair
from ui.serving.fair_queue import Busy
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.session_view import Sessions, SessionView


class Stub:
    """A run that is busy from its start until `busy` is set to False."""

    name = "race"
    is_replaceable = False

    def __init__(self) -> None:
        self.busy = False
        self.holding = False
        self.halted = False
        self.released = False
        self.started = []

    def start(self, steps: int | None) -> None:
        self.busy = True
        self.holding = True
        self.started.append(steps)

    def halt(self) -> None:
        self.halted = True

    @property
    def in_line(self) -> bool:
        return self.busy

    def release(self, now: bool = False) -> None:
        self.holding = False
        self.released = True


def test_one_run_per_visitor() -> None:
    sessions = Sessions(Limits())
    first = Stub()
    second = Stub()
    sessions.go("a", first)
    with pytest.raises(Busy, match="one run at a time"):
        sessions.go("a", second)
    assert second.started == []
    first.busy = False
    sessions.go("a", second)
    assert sessions.get("a") is second
    assert not first.holding


def test_full_sessions_forget_the_idle_and_refuse_when_all_are_busy() -> None:
    sessions = Sessions(Limits(sessions=2))
    runs = [Stub() for _ in range(4)]
    sessions.go("a", runs[0])
    sessions.go("b", runs[1])
    with pytest.raises(Busy, match="all 2 sessions"):
        sessions.go("c", runs[2])
    runs[0].busy = False
    sessions.go("c", runs[2])
    assert sessions.get("a") is None
    assert not runs[0].holding


class Threadless(Stub):
    """A run for which no thread can be started."""

    def start(self, steps: int | None) -> None:
        raise Busy("no room")


def test_nobody_loses_a_paused_run_to_one_that_cannot_start() -> None:
    sessions = Sessions(Limits(sessions=2, held=2))
    mine = Stub()
    other = Stub()
    for who, run in (("a", other), ("b", mine)):
        sessions.go(who, run, 1)
        run.busy = False
    for who in ("b", "c"):
        with pytest.raises(Busy, match="no room"):
            sessions.go(who, Threadless())
    assert (sessions.get("a"), sessions.get("b"), sessions.get("c")) == (other, mine, None)
    assert mine.holding
    assert other.holding


def test_only_the_newest_paused_runs_keep_their_caches() -> None:
    sessions = Sessions(Limits(held=2))
    runs = [Stub() for _ in range(4)]
    for name, run in zip("abcd", runs, strict=True):
        sessions.go(name, run, 1)
        run.busy = False
    sessions.go("e", Stub())
    assert [run.holding for run in runs] == [False, False, True, True]


def test_a_visitor_who_leaves_is_forgotten_and_their_run_ends() -> None:
    sessions = Sessions(Limits())
    run = Stub()
    sessions.go("a", run)
    sessions.close("a")
    sessions.close("a")
    assert run.halted
    assert not run.holding
    assert sessions.get("a") is None


def test_paused_and_resumed_runs_lose_their_caches_when_models_change() -> None:
    """A run that has not begun is not released, because it uses nothing of the previous models."""
    sessions = Sessions(Limits())
    runs = {"resumed": Stub(), "paused": Stub(), "new": Stub()}
    for who, run in runs.items():
        sessions.go(who, run)
    runs["paused"].busy = False
    runs["new"].holding = False
    sessions.release_all()
    assert not any(run.holding for run in runs.values())
    assert [run.released for run in runs.values()] == [True, True, False]


# -- in all views ----------------------------------------------------------------------------------


class View(SessionView[Any]):
    def buttons_now(self, request: Any) -> dict[Any, Any]:
        return {}

    def not_running(self, words: str) -> dict[Any, Any]:
        return {}


Start = Callable[..., Stub]


@pytest.fixture
def start(pair: Pair) -> Start:
    """Starts a run of visitor `who`, who has the address `client`, in one of two views. At most
    `per_address` runs of each address may wait or run."""
    host = ModelHost(lambda: pair, 4)
    views: dict[int | None, list[View]] = {}

    def started(
        who: str, client: str = "10.0.0.1", view: int = 0, per_address: int | None = None
    ) -> Stub:
        limits = Limits(per_address=per_address)
        both = views.setdefault(per_address, [View(host, limits), View(host, limits)])
        run = Stub()
        both[view].start(request(who, client), run)
        return run

    return started


def test_a_visitor_has_one_run_in_all_views(start: Start) -> None:
    first = start("a")
    for view in (0, 1):
        with pytest.raises(Busy, match="your race has not ended yet: stop it first"):
            start("a", view=view)
    start("b")
    first.busy = False
    start("a", view=1)


def test_a_run_that_may_be_replaced_gives_way_to_the_next_in_its_view(start: Start) -> None:
    """Such a run counts neither for its visitor nor for their address."""
    first = start("a", per_address=1)
    first.is_replaceable = True
    with pytest.raises(Busy):
        start("a", view=1, per_address=1)
    start("a", per_address=1)
    assert first.halted
    assert first.released


@pytest.mark.parametrize(
    ("clients", "refused"),
    [
        (["10.0.0.1", "10.0.0.2"], False),
        (["10.0.0.1", "10.0.0.1"], True),
        (["10.0.0.2", "::ffff:10.0.0.2"], True),
    ],
)
def test_an_address_has_a_limited_number_of_runs(
    start: Start, clients: list[str], refused: bool
) -> None:
    first = start("a", clients[0], per_address=1)
    if refused:
        with pytest.raises(Busy, match="1 run waiting or running"):
            start("b", clients[1], view=1, per_address=1)
        first.busy = False
    start("b", clients[1], view=1, per_address=1)
