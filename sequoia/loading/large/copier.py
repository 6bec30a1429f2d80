"""Copies weights from host memory to the device that computes. On CUDA, copies run on a separate
stream, at the same time as other work."""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import Any, Protocol

import torch

from sequoia.errors import OutOfMemory
from sequoia.this_machine.memory import free_bytes, size
from sequoia.this_machine.step_timer import as_current_device

_PORTABLE = 1  # cudaHostRegisterPortable: the memory is pinned for all devices
PAGE = 4096  # bytes; memory is pinned in whole pages


class Copier(Protocol):
    """Copies from host memory to buffers on a device. The copier allocates the host memory and the
    buffers. Counts are in bytes."""

    def host(self, count: int) -> torch.Tensor:
        """Host memory to copy from, a uint8 tensor (count,). count: a multiple of PAGE. Raises
        OutOfMemory if the memory cannot be pinned."""
        ...

    def buffer(self, count: int) -> torch.Tensor:
        """Memory on the computing device to copy to, a uint8 tensor (count,)."""
        ...

    def begin(self, host: torch.Tensor, buffer: torch.Tensor) -> Any:
        """Start copying `host` to the start of `buffer`. The copy waits for all work queued so far
        on the device's current stream. Returns a ticket for `wait`."""
        ...

    def wait(self, ticket: Any) -> None:
        """Make all later work on the device's current stream wait for the copy that belongs to
        `ticket`."""
        ...

    def finish(self) -> None:
        """Block until no copy is in progress."""
        ...


class HostCopier:
    """Copies within host memory, synchronously: for a model that runs on a CPU, and for tests."""

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
    """Copies from pinned host memory to one CUDA device, on a separate stream."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)

    def host(self, count: int) -> torch.Tensor:
        memory = torch.empty(count + PAGE, dtype=torch.uint8)
        start = -memory.data_ptr() % PAGE
        pages = memory[start : start + count]  # whole pages, so that no page is pinned twice
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
            # if the buffer is freed during the copy, its memory is not reused before the copy ends
            buffer.record_stream(self._stream)
            return self._stream.record_event()

    def wait(self, ticket: torch.cuda.Event) -> None:
        torch.cuda.current_stream(self._device).wait_event(ticket)

    def finish(self) -> None:
        self._stream.synchronize()


def copier_for(device: torch.device) -> Copier:
    """A copier whose buffers are on `device`."""
    return CudaCopier(device) if device.type == "cuda" else HostCopier()


def _pin(pages: torch.Tensor, stream: torch.cuda.Stream) -> None:
    """Pin the memory of `pages` until this tensor object is deleted. Views of it do not keep the
    memory pinned. Raises OutOfMemory if CUDA refuses.

    torch's own pinned allocator is not used: it rounds sizes up to powers of two, so it takes up to
    twice the memory. CUDA creates a context (half a gigabyte) on the current device, so that must
    be the device to copy to. On any other device, the context would be of no use.
    """
    runtime: Any = torch.cuda.cudart()
    code = int(runtime.cudaHostRegister(pages.data_ptr(), len(pages), _PORTABLE))
    if code:
        _forget_error(runtime, stream)
        free = free_bytes(torch.device("cpu"))
        raise OutOfMemory(
            f"cannot pin another {size(len(pages))} of host memory (CUDA error {code}); "
            f"{size(free)} is free. Keep more layers resident (a larger offload=), or choose a "
            "smaller target"
        )
    weakref.finalize(pages, _unpin, runtime, pages.data_ptr(), stream).atexit = False


def _forget_error(runtime: Any, stream: torch.cuda.Stream) -> None:
    """Clear the error that CUDA remembers after a refused call. Otherwise the next kernel launch of
    this thread would raise it. If torch does not offer cudaGetLastError, a kernel is launched here:
    the launch raises the error, and that clears it."""
    if clear := getattr(runtime, "cudaGetLastError", None):
        clear()
        return
    with suppress(RuntimeError):
        torch.zeros(1, device=stream.device)


def _unpin(runtime: Any, address: int, stream: torch.cuda.Stream) -> None:
    stream.synchronize()
    runtime.cudaHostUnregister(address)
