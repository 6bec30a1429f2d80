"""Threads that take little memory. Each would reserve 8 MiB for its stack and 64 MiB for small
objects, so on a machine that limits a program's address space a full room could have no more
threads. Imports only the standard library."""

from __future__ import annotations

import ctypes
import sys
import threading
from contextlib import suppress

_STACK = 2 * 1024 * 1024  # bytes
_POOLS = 2  # of memory for small objects, shared by all threads
_ARENA_MAX = -8  # glibc's M_ARENA_MAX


def use_little_memory() -> None:
    """For all threads that Python starts from now on."""
    threading.stack_size(_STACK)
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library than glibc
            ctypes.CDLL(None).mallopt(_ARENA_MAX, _POOLS)
