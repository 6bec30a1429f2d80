"""The short blocking work of handlers runs in a few threads of AnyIO, which end when they are idle.
Errors reach the handler, and the work goes on if the handler is cancelled."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from anyio._backends._asyncio import WorkerThread

from ui.serving.short_work import in_thread


def test_many_calls_at_once_share_a_few_threads_of_anyio() -> None:
    """They must be AnyIO's threads, because idle_threads.py ends only those when they are idle."""

    def work(number: int, *, offset: int) -> tuple[int, threading.Thread]:
        time.sleep(0.01)
        return number + offset, threading.current_thread()

    async def everything() -> list[tuple[int, threading.Thread]]:
        return await asyncio.gather(*(in_thread(work, number, offset=1) for number in range(30)))

    results = asyncio.run(everything())
    assert [number for number, _ in results] == list(range(1, 31))
    threads = {thread for _, thread in results}
    assert len(threads) <= 6
    assert all(isinstance(thread, WorkerThread) for thread in threads)


def test_an_error_reaches_the_handler() -> None:
    def work() -> None:
        raise ValueError("as it was raised")

    with pytest.raises(ValueError, match="as it was raised"):
        asyncio.run(in_thread(work))


def test_work_goes_on_if_its_caller_is_cancelled() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        time.sleep(0.1)
        ended.set()

    async def cancelled() -> None:
        task = asyncio.create_task(in_thread(work))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancelled())
    assert ended.wait(10)
