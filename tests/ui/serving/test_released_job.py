"""A job that its visitor abandons keeps its caches until the current step is done, then frees
them."""

from __future__ import annotations

import threading

from visits import wait

from ui.serving.job import Job
from ui.serving.model_host import ModelHost
from ui.serving.wait_times import Demand


class OneStep(Job[str]):
    """A job of one step, which lasts until `goes_on` is set."""

    def __init__(self, model_host: ModelHost) -> None:
        super().__init__(model_host)
        self.goes_on = threading.Event()
        self.freed_while_busy: list[bool] = []

    def work(self, steps: int | None) -> str:
        assert self.goes_on.wait(10)
        return "done"

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


def test_a_job_at_rest_is_freed_at_once(model_host: ModelHost) -> None:
    job = OneStep(model_host)
    job.release()
    assert job.freed_while_busy == [False]
