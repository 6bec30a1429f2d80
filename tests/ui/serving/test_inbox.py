"""Reading the events of a job without holding a thread. Guards against handlers that hold a worker
thread while they wait: many such handlers would leave no thread for anything else."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ui.serving.inbox import Inbox, Received


async def read(one: Inbox[int]) -> list[int]:
    return [event async for events in Received(one, list) for event in events]


def test_a_hundred_waiting_readers_hold_no_thread() -> None:
    async def read_all() -> list[list[int]]:
        boxes = [Inbox[int]() for _ in range(100)]
        readers = [asyncio.create_task(read(one)) for one in boxes]
        await asyncio.sleep(0.2)
        # threads of other tests may end meanwhile
        assert threading.active_count() <= before
        for number, one in enumerate(boxes):
            threading.Thread(target=one.put, args=(number, True)).start()
        return await asyncio.gather(*readers)

    before = threading.active_count()
    assert asyncio.run(read_all()) == [[number] for number in range(100)]


def test_events_come_in_order_and_reading_ends_with_the_last() -> None:
    box = Inbox[int]()

    def post() -> None:
        for number in range(1000):
            box.put(number, last=number == 999)

    async def read_while_posted() -> list[int]:
        thread = threading.Thread(target=post)
        thread.start()
        return await read(box)

    assert asyncio.run(read_while_posted()) == list(range(1000))
    box.put(1000)  # dropped, because it comes after the last event
    box.reopen()
    box.put(1001, last=True)
    assert [*Received(box, list)] == [[1001]]


def test_two_readers_at_once_both_end() -> None:
    """A visitor who resumes a run before its last event was read has two readers. Guards against a
    reader that waits for ever: Gradio ignores a button while the button's handler runs."""
    box = Inbox[int]()

    async def both() -> list[list[int]]:
        readers = [asyncio.create_task(read(box)) for _ in range(2)]
        await asyncio.sleep(0.01)
        box.put(1)
        await asyncio.sleep(0.2)
        box.put(2, last=True)
        return await asyncio.wait_for(asyncio.gather(*readers), 5)

    found = asyncio.run(both())
    assert sorted(event for events in found for event in events) == [1, 2]
    assert [*Received(box, list)] == []


def test_a_look_for_events_counts_as_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("ui.serving.inbox.time.monotonic", lambda: now[0])
    box = Inbox[int]()
    now[0] = 60.0
    assert not box.is_read(30)
    box.take()
    assert box.is_read(30)
