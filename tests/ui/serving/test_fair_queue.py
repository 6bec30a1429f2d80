"""The queue of visitors who share the models: first come, first served, and of limited length. A
visitor who leaves makes room for another."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest
from visits import wait

from ui.serving.fair_queue import Busy, Cancelled, FairQueue, OnWait, Work
from ui.serving.wait_times import Demand, Wait


def stand(
    line: FairQueue,
    name: str,
    log: list[str],
    go: threading.Event,
    has_left: threading.Event | None = None,
) -> threading.Thread:
    def body() -> None:
        try:
            with line.turn(
                lambda: bool(has_left and has_left.is_set()),
                lambda wait: log.append(f"{name} behind {wait.ahead}"),
            ):
                log.append(name)
                go.wait(10)
        except Cancelled:
            log.append(f"{name} left")

    thread = threading.Thread(target=body, daemon=True)
    before = len(line)
    thread.start()
    wait(lambda: len(line) > before)
    return thread


def test_visitors_are_served_in_order_and_get_their_position() -> None:
    """Guards against a semaphore, which would serve the waiting visitors in arbitrary order."""
    line = FairQueue(4)
    log = []
    go = threading.Event()
    threads = [stand(line, name, log, go) for name in "abc"]
    wait(lambda: len(log) == 3)
    assert sorted(log) == ["a", "b behind 1", "c behind 2"]
    go.set()
    for thread in threads:
        thread.join(10)
    assert [entry for entry in log if len(entry) == 1] == ["a", "b", "c"]
    assert len(line) == 0


def test_a_visitor_who_leaves_frees_a_place() -> None:
    line = FairQueue(3)
    log = []
    go = threading.Event()
    has_left = threading.Event()
    first = stand(line, "a", log, go)
    second = stand(line, "b", log, go, has_left)
    third = stand(line, "c", log, go)
    has_left.set()
    second.join(10)
    wait(lambda: "c behind 1" in log)
    go.set()
    first.join(10)
    third.join(10)
    assert "b left" in log
    assert "b" not in log


def test_a_full_queue_refuses_at_once() -> None:
    line = FairQueue(1)
    go = threading.Event()
    thread = stand(line, "a", [], go)
    with pytest.raises(Busy, match=r"^1 run is running"), line.turn(lambda: False, lambda _: None):
        pass
    go.set()
    thread.join(10)


def test_a_job_that_returns_for_another_turn_is_never_refused() -> None:
    """Guards against refusing a job its second turn because the queue has filled up meanwhile."""
    line = FairQueue(1)
    go = threading.Event()
    thread = stand(line, "a", [], go)
    passed = threading.Event()

    def again() -> None:
        with line.turn(lambda: False, lambda _: None, Work(returns=True)):
            passed.set()

    other = threading.Thread(target=again, daemon=True)
    other.start()
    wait(lambda: len(line) == 2)
    go.set()
    thread.join(10)
    other.join(10)
    assert passed.is_set()


def test_the_wait_is_the_expected_time_of_the_jobs_ahead() -> None:
    now = [0.0]
    line = FairQueue(4, lambda: now[0])
    line.times.forget(0.1)
    waits: list[Wait] = []
    left = threading.Event()
    first = Work(Demand("run", 100, 60), lambda: 0.0)
    with line.turn(lambda: False, waits.append, first):
        now[0] = 4.0
        for work in (Work(Demand("run", 50, 60)), Work(Demand("profile", 0, 30))):
            threading.Thread(target=queued, args=(line, work, left, waits.append)).start()
            wait(lambda: len(waits) == len(line) - 1)
    assert [wait.ahead for wait in waits[:2]] == [1, 2]
    assert [round(wait.seconds) for wait in waits[:2]] == [6, 11]
    wait(lambda: len(line) == 0)


def queued(line: FairQueue, work: Work, left: threading.Event, on_wait: OnWait) -> None:
    with suppress(Cancelled), line.turn(left.is_set, on_wait, work):
        pass


def test_a_job_that_was_stopped_does_not_change_the_expected_time() -> None:
    now = [0.0]
    line = FairQueue(4, lambda: now[0])
    line.times.forget(0.1)
    run = Work(Demand("run", 100, 60))
    stopped = threading.Event()
    with line.turn(stopped.is_set, lambda _: None, run):
        now[0] += 1
        stopped.set()
    assert line.times.expected(run.demand) == pytest.approx(10)
    with line.turn(lambda: False, lambda _: None, run):
        now[0] += 1
    assert line.times.expected(run.demand) < 4


def test_the_owner_goes_before_those_who_wait_but_not_before_an_earlier_owner() -> None:
    line = FairQueue(4)
    log: list[str] = []
    ended = threading.Event()

    def stand_in(name: str, skips: bool) -> threading.Thread:
        def body() -> None:
            with line.turn(lambda: False, lambda _: None, Work(skips=skips)):
                log.append(name)
                ended.wait(10)

        thread = threading.Thread(target=body, daemon=True)
        before = len(line)
        thread.start()
        wait(lambda: len(line) > before)
        return thread

    who = [("a", False), ("b", False), ("c", False), ("d", False)]
    threads = [stand_in(name, skips) for name, skips in who]
    wait(lambda: log == ["a"])
    with pytest.raises(Busy), line.turn(lambda: False, lambda _: None, Work()):
        pass
    threads += [stand_in("first owner", True), stand_in("second owner", True)]
    ended.set()
    for thread in threads:
        thread.join(10)
    assert log == ["a", "first owner", "second owner", "b", "c", "d"]
