"""The pair for views that only look at it: as it is now, or once loading is over. Knows no page."""

from __future__ import annotations

import asyncio

from sequoia import Pair, SequoiaError
from ui.serving.fair_queue import Cancelled
from ui.serving.model_host import ModelHost

_LOOK = 0.2  # seconds between looks
_MOMENT = 0.1  # what the pair is handed out after it is settled


def pair_now(model_host: ModelHost) -> Pair | None:
    """The pair, or None while there is none."""
    try:
        return model_host.pair(lambda: True) if model_host.settled else None
    except (SequoiaError, Cancelled):
        return None


async def settled(model_host: ModelHost) -> None:
    """Return once there is nothing left to wait for."""
    while not model_host.settled:
        await asyncio.sleep(_LOOK)
    await asyncio.sleep(_MOMENT)
