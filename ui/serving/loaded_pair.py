"""Reads the loaded pair of models without a turn in the queue: `pair_now` returns the pair, and
`settled` waits until loading has ended."""

from __future__ import annotations

import asyncio

from sequoia import Pair, SequoiaError
from ui.serving.fair_queue import Cancelled
from ui.serving.model_host import ModelHost

_LOOK = 0.2  # seconds between two checks
_MOMENT = 0.1  # seconds; the host says "ready" shortly before its pair can be read


def pair_now(model_host: ModelHost) -> Pair | None:
    """The pair. None while a pair is being loaded, if none could be loaded, or if its GPU has
    stopped working."""
    try:
        return model_host.pair(lambda: True) if model_host.settled else None
    except (SequoiaError, Cancelled):
        return None


async def settled(model_host: ModelHost) -> None:
    """Wait until loading has succeeded or failed."""
    while not model_host.settled:
        await asyncio.sleep(_LOOK)
    await asyncio.sleep(_MOMENT)
