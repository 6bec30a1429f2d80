from __future__ import annotations

import threading

import gradio as gr

from ui.serving.last_messages import wait_until_sent


def queue_with(events: dict[str, set[str]]) -> gr.queueing.Queue:
    with gr.Blocks() as blocks:
        pass
    blocks.queue()
    blocks._queue.pending_event_ids_session = events
    return blocks._queue


def test_nothing_to_send_is_not_waited_for() -> None:
    assert wait_until_sent(queue_with({"visitor": set()}), 0)


def test_the_last_message_is_waited_for() -> None:
    events = {"visitor": {"run"}}
    threading.Timer(0.5, events["visitor"].clear).start()
    assert wait_until_sent(queue_with(events), 60)
    assert not events["visitor"]


def test_a_page_that_does_not_take_its_message_is_waited_for_in_vain() -> None:
    assert not wait_until_sent(queue_with({"visitor": {"run"}}), 0.1)
