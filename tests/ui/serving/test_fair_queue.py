"""The queue of visitors who share the models: first come, first served, and of limited length. A
visitor who leaves makes room for another."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from visits import wait

from ui.serving.fair_queue import Busy, Cancelled, Demand, FairQueue, OnWait, Wait, Work


class Line:
    """A queue of at most four. served: those who have had the engine, which each keeps until `go`
    is set. places: what those who wait were told."""

    def __init__(self) -> None:
        self.queue = FairQueue(4)
        self.go = threading.Event()
        self.served: list[str] = []
        self.places: list[str] = []
        self._threads: list[threading.Thread] = []

    def stand(self, name: str, left: threading.Event | None = None, **work: Any) -> None:
        """Visitor `name` waits for the engine, or until `left` is set."""
        has_left = left or threading.Event()

        def body() -> None:
            with (
                suppress(Cancelled),
                self.queue.turn(
                    has_left.is_set,
                    lambda wait: self.places.append(f"{name} behind {wait.ahead}"),
                    Work(**work),
                ),
            ):
                self.served.append(name)
                self.go.wait(10)

        before = len(self.queue)
        self._threads.append(threading.Thread(target=body, daemon=True))
        self._threads[-1].start()
        wait(lambda: len(self.queue) > before)

    def end(self) -> list[str]:
        """Let all have the engine. Returns the order in which they had it."""
        self.go.set()
        for thread in self._threads:
            thread.join(10)
        assert len(self.queue) == 0
        return self.served


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    line.end()


def test_visitors_are_served_in_order_and_get_their_position(line: Line) -> None:
    """Guards against a semaphore, which would serve the waiting visitors in arbitrary order."""
    for name in "abc":
        line.stand(name)
    wait(lambda: sorted(line.places) == ["b behind 1", "c behind 2"])
    assert line.end() == ["a", "b", "c"]


def test_a_visitor_who_leaves_frees_a_place(line: Line) -> None:
    left = threading.Event()
    line.stand("a")
    line.stand("b", left)
    line.stand("c")
    left.set()
    wait(lambda: "c behind 1" in line.places)
    assert line.end() == ["a", "c"]


def test_a_full_queue_refuses_at_once(line: Line) -> None:
    """But neither a job that returns for a further turn nor the owner. The owner goes before those
    who wait, but not before an earlier owner."""
    for name in "abcd":
        line.stand(name)
    with (
        pytest.raises(Busy, match=r"^4 runs are running"),
        line.queue.turn(lambda: True, lambda _: None),
    ):
        pass
    line.stand("returns", returns=True)
    line.stand("first owner", skips=True)
    line.stand("second owner", skips=True)
    assert line.end() == ["a", "first owner", "second owner", "b", "c", "d", "returns"]


def test_work_that_yields_goes_last(line: Line) -> None:
    line.stand("a")
    line.stand("program", yields=True)
    line.stand("another program", yields=True)
    line.stand("b")
    assert line.end() == ["a", "b", "program", "another program"]


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
