"""After a busy time, the threads that ran handlers end, except for the one that IdleThreads uses.
If they never ended, the stack of each would keep taking memory."""

from __future__ import annotations

import asyncio
import threading

import pytest
from anyio._backends._asyncio import WorkerThread
from anyio.to_thread import run_sync
from starlette.types import Message, Receive, Scope, Send

from ui.serving import idle_threads
from ui.serving.idle_threads import IdleThreads


def workers() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if isinstance(one, WorkerThread)}


async def twenty_at_once(scope: Scope, receive: Receive, send: Send) -> None:
    together = threading.Barrier(20)
    await asyncio.gather(*(run_sync(together.wait, 60) for _ in range(20)))


async def unused(*_: Message) -> Message:
    raise AssertionError


def test_after_the_last_request_one_thread_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_threads, "SECONDS", 0.1)
    monkeypatch.setattr(WorkerThread, "MAX_IDLE_TIME", 0.05)

    async def served() -> tuple[int, int]:
        before = workers()
        await IdleThreads(twenty_at_once)({"type": "http"}, unused, unused)
        busy = workers() - before
        for _ in range(500):
            if len(workers() - before) <= 1:
                break
            await asyncio.sleep(0.02)
        return len(busy), len(workers() - before)

    busy, afterwards = asyncio.run(served())
    assert busy == 20
    assert afterwards == 1
