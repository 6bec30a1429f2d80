"""The pair for views that only look at it: as it is now, or once loading is over. Knows no page."""

from __future__ import annotations

import asyncio

from sequoia import Pair, SequoiaError
from ui.serving.fair_queue import Left
from ui.serving.model_host import EngineRoom

_LOOK = 0.2  # seconds between looks
_MOMENT = 0.1  # what the pair is handed out after it is settled


def pair_now(room: EngineRoom) -> Pair | None:
    """The pair, or None while there is none."""
    try:
        return room.pair(lambda: True) if room.settled else None
    except (SequoiaError, Left):
        return None


async def settled(room: EngineRoom) -> None:
    """Return once there is nothing left to wait for."""
    while not room.settled:
        await asyncio.sleep(_LOOK)
    await asyncio.sleep(_MOMENT)
