"""How the thread of a job begins and ends. A job that is released while it runs frees its caches
when its work has ended. A job for which no thread can be started does not count as running."""

from __future__ import annotations

import threading

import pytest
from visits import wait

from ui.serving.fair_queue import Busy, Demand
from ui.serving.job import Job
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.serving.session_view import Sessions


class OneStep(Job[str]):
    """A job of one step, which lasts until `goes_on` is set."""

    def __init__(self, model_host: ModelHost) -> None:
        super().__init__(model_host)
        self.goes_on = threading.Event()
        self.freed_while_busy: list[bool] = []
        self.works = 0

    def work(self, steps: int | None) -> str:
        assert self.goes_on.wait(10)
        self.works += 1
        return f"done {self.works}"

    def demand(self) -> Demand:
        return Demand()

    def notice(self, words: str) -> str:
        return words

    def stopped(self, words: str) -> str:
        return words

    def failed(self, error: str) -> str:
        return error

    def free_caches(self) -> None:
        self.freed_while_busy.append(self.busy)


def test_a_busy_job_is_freed_after_its_step(model_host: ModelHost) -> None:
    job = OneStep(model_host)
    job.start()
    job.release()
    assert job.freed_while_busy == []
    job.goes_on.set()
    wait(lambda: job.freed_while_busy)
    assert job.freed_while_busy == [False]


def test_a_job_that_gets_no_thread_is_not_running(
    model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against a visitor whose run counts as busy for ever."""
    sessions = Sessions[OneStep](LOCAL)
    job = OneStep(model_host)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _no_thread)
        with pytest.raises(Busy, match="no room for another run just now; try again in a minute"):
            sessions.go("one", job)
    assert not job.busy
    assert not job.in_line
    job.goes_on.set()
    sessions.go("one", job)
    assert list(job.reports()) == ["done 1"]


def _no_thread(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


class EndsSlowly(OneStep):
    """Freeing its caches lasts until `freed` is set."""

    def __init__(self, model_host: ModelHost) -> None:
        super().__init__(model_host)
        self.freeing = threading.Event()
        self.freed = threading.Event()

    def free_caches(self) -> None:
        self.freeing.set()
        assert self.freed.wait(10)


def test_a_job_that_is_ending_starts_again_after_its_last_event(model_host: ModelHost) -> None:
    """The job is started again while its first run is ending. Guards against treating the second
    run as over too, and discarding its events."""
    job = EndsSlowly(model_host)
    job.start()
    job.release()
    job.goes_on.set()
    assert job.freeing.wait(10)
    again = threading.Thread(target=job.start)
    again.start()
    again.join(0.05)
    assert again.is_alive(), "start() waits for the last event of the first run"
    job.freed.set()
    again.join(10)
    wait(lambda: not job.busy)
    assert list(job.reports()) == ["done 2"]
