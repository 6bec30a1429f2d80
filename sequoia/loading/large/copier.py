"""Copies from host memory to the device that computes: synchronously on a CPU, asynchronously on
a separate stream on CUDA.

A copy runs while other things are computed; work that needs its bytes waits for it.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import Any, Protocol

import torch

from sequoia.errors import OutOfMemory
from sequoia.this_machine.memory import free_bytes, size
from sequoia.this_machine.step_timer import as_current_device

_PORTABLE = 1  # pinned for all devices, as a flag of cudaHostRegister
PAGE = 4096  # bytes; memory is pinned by whole pages, so counts are multiples of it


class Copier(Protocol):
    """Copies between memory that it allocates itself; counts are in bytes."""

    def host(self, count: int) -> torch.Tensor:
        """(count,) uint8 in host memory, to copy from. Raises OutOfMemory."""
        ...

    def buffer(self, count: int) -> torch.Tensor:
        """(count,) uint8 on the computing device, to copy to."""
        ...

    def begin(self, host: torch.Tensor, buffer: torch.Tensor) -> Any:
        """Start copying `host` to the start of `buffer`, after all work given to the device so far.
        Returns a ticket for `wait`."""
        ...

    def wait(self, ticket: Any) -> None:
        """Make all later work on the device wait for that copy."""
        ...

    def finish(self) -> None:
        """Wait until no copy is in progress."""
        ...


class HostCopier:
    """From host memory to host memory, at once. For a machine without a GPU, and for tests."""

    def host(self, count: int) -> torch.Tensor:
        return torch.empty(count, dtype=torch.uint8)

    buffer = host

    def begin(self, host: torch.Tensor, buffer: torch.Tensor) -> None:
        buffer[: len(host)].copy_(host)

    def wait(self, ticket: None) -> None:
        pass

    def finish(self) -> None:
        pass


class CudaCopier:
    """From pinned host memory to one CUDA device, on a second stream."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)

    def host(self, count: int) -> torch.Tensor:
        memory = torch.empty(count + PAGE, dtype=torch.uint8)
        start = -memory.data_ptr() % PAGE
        pages = memory[start : start + count]  # whole pages, so that none is pinned twice
        with as_current_device(self._device):
            _pin(pages, self._stream)
        return pages

    def buffer(self, count: int) -> torch.Tensor:
        return torch.empty(count, dtype=torch.uint8, device=self._device)

    def begin(self, host: torch.Tensor, buffer: torch.Tensor) -> Any:
        with as_current_device(self._device):
            capturing = torch.cuda.is_current_stream_capturing()
        if capturing:
            raise RuntimeError(
                "weights that are streamed from host memory cannot be part of a CUDA graph"
            )
        # after all work that still reads the buffer
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            buffer[: len(host)].copy_(host, non_blocking=True)
            # if it is freed during the copy, its memory is not reused before the copy ends
            buffer.record_stream(self._stream)
            return self._stream.record_event()

    def wait(self, ticket: torch.cuda.Event) -> None:
        torch.cuda.current_stream(self._device).wait_event(ticket)

    def finish(self) -> None:
        self._stream.synchronize()


def copier_for(device: torch.device) -> Copier:
    """The copier to `device`."""
    return CudaCopier(device) if device.type == "cuda" else HostCopier()


def _pin(pages: torch.Tensor, stream: torch.cuda.Stream) -> None:
    """Lock `pages` into memory until they are freed. Pinned memory allocated by torch takes up to
    twice as much, as it is rounded up to powers of two. The current device must be the one that
    copies: another one would get a CUDA context, half a gigabyte, for nothing."""
    runtime: Any = torch.cuda.cudart()
    code = int(runtime.cudaHostRegister(pages.data_ptr(), len(pages), _PORTABLE))
    if code:
        _forget_error(runtime, stream)
        free = free_bytes(torch.device("cpu"))
        raise OutOfMemory(
            f"cannot pin another {size(len(pages))} of host memory (CUDA error {code}); "
            f"{size(free)} is free. Keep more layers resident, or choose a smaller target"
        )
    weakref.finalize(pages, _unpin, runtime, pages.data_ptr(), stream).atexit = False


def _forget_error(runtime: Any, stream: torch.cuda.Stream) -> None:
    """CUDA keeps the error of a refused call, and the next launch of this thread would raise it as
    its own. Where torch does not offer the call that clears it, a launch here takes it."""
    if clear := getattr(runtime, "cudaGetLastError", None):
        clear()
        return
    with suppress(RuntimeError):
        torch.zeros(1, device=stream.device)


def _unpin(runtime: Any, address: int, stream: torch.cuda.Stream) -> None:
    stream.synchronize()
    runtime.cudaHostUnregister(address)
