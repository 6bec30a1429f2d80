"""Waits until what the server's handlers returned has been sent to the pages."""

from __future__ import annotations

import time
from typing import Protocol

_LOOK_SECONDS = 0.02
_CLOSE_SECONDS = 0.1  # time for Gradio's message that closes a page's stream after its last event


class Queue(Protocol):
    """The part of `gradio.queueing.Queue` that is used here. pending_event_ids_session: for each
    visitor, the ids of the events whose last message has not been sent yet."""

    pending_event_ids_session: dict[str, set[str]]


def wait_until_sent(queue: Queue, seconds: float) -> bool:
    """Wait until the last message of every event in `queue` has been sent, but for at most about
    `seconds`. Returns whether all have been sent."""
    end = time.monotonic() + seconds
    while unsent := any(list(queue.pending_event_ids_session.values())):
        if time.monotonic() > end:
            break
        time.sleep(_LOOK_SECONDS)
    time.sleep(_CLOSE_SECONDS)
    return not unsent
