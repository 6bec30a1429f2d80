"""Short blocking work of an async handler, done in a thread so that other visitors are served
meanwhile. The threads are AnyIO's, because those of `asyncio.to_thread` would stay when they are no
longer needed (see idle_threads.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

# separate from AnyIO's limit for handlers that run in threads, so that this work and those handlers
# do not wait for each other
_AT_ONCE = CapacityLimiter(6)

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What `work` returns. Work that has begun runs to its end, even if the caller is cancelled."""
    return await to_thread.run_sync(lambda: work(*args, **kwargs), limiter=_AT_ONCE)
