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


def test_there_is_no_wait_if_nothing_is_unsent() -> None:
    assert wait_until_sent(queue_with({"visitor": set()}), 0)


def test_it_waits_until_the_last_message_is_sent() -> None:
    events = {"visitor": {"run"}}
    threading.Timer(0.5, events["visitor"].clear).start()
    assert wait_until_sent(queue_with(events), 60)
    assert not events["visitor"]


def test_the_wait_ends_even_if_a_page_does_not_take_its_message() -> None:
    assert not wait_until_sent(queue_with({"visitor": {"run"}}), 0.1)
