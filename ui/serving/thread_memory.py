"""Makes threads reserve little memory. By default each reserves 8 MiB for its stack and 64 MiB for
small objects. On a machine that limits a program's address space, there would not be enough threads
for many visitors. Imports only the standard library."""

from __future__ import annotations

import ctypes
import sys
import threading
from contextlib import suppress

_STACK = 2 * 1024 * 1024  # bytes
_POOLS = 2  # number of memory pools for small objects, shared by all threads
_ARENA_MAX = -8  # glibc's M_ARENA_MAX


def use_little_memory() -> None:
    """Apply the limits to all threads that Python starts from now on."""
    threading.stack_size(_STACK)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # the C library is not glibc
            ctypes.CDLL(None).mallopt(_ARENA_MAX, _POOLS)
