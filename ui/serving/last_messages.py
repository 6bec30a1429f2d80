"""Waits until the pages have got what the server's handlers returned."""

from __future__ import annotations

import time
from typing import Protocol

_LOOK_SECONDS = 0.02
_CLOSE_SECONDS = 0.1  # after the last event, Gradio sends each page a message to close its stream


class Queue(Protocol):
    """The part of `gradio.queueing.Queue` that is used here. It holds the ids of each visitor's
    events whose last message was not sent yet."""

    pending_event_ids_session: dict[str, set[str]]


def wait_until_sent(queue: Queue, seconds: float) -> bool:
    """Wait until every event of `queue` has sent its last message, for at most about `seconds`.
    Returns whether they all have."""
    end = time.monotonic() + seconds
    while unsent := any(list(queue.pending_event_ids_session.values())):
        if time.monotonic() > end:
            break
        time.sleep(_LOOK_SECONDS)
    time.sleep(_CLOSE_SECONDS)
    return not unsent
