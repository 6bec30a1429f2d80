"""Admission: one run per visitor, a limit on sessions and on caches, and a visitor who left is
forgotten."""

from __future__ import annotations

import pytest

from ui.serving.limits import PUBLIC, Limits
from ui.serving.sessions import Busy, Sessions


class Stub:
    """A run that is busy from its start until `busy` is set to False."""

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

    def release(self) -> None:
        self.holding = False
        self.released = True

    def release_now(self) -> None:
        self.release()


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


def test_public_limits_are_tighter() -> None:
    local = Limits()
    for name in ("tokens", "nodes", "prompt_chars", "seconds", "held", "stored_nodes", "upload"):
        assert getattr(PUBLIC, name) < getattr(local, name)
    assert local.models
    assert not PUBLIC.models, "visitors of a public page load no other models"


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
