"""Offloading: the weights of some decoder layers are in host memory and are streamed to the
computing device one layer at a time.

The code of the `transformers` model is unchanged. A hook before each streamed layer points the
layer's parameters at one of two device buffers. A hook after it points them back at host memory.
While one layer computes, the next streamed layer is copied into the other buffer. At the end of a
pass the first streamed layers are copied for the next pass, so copying continues while the draft
runs. If only one or two layers are streamed, each stays in a buffer and is copied only once. All
other parts of the model stay on the device.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import nn

from sequoia.errors import OutOfMemory
from sequoia.models.layers import decoder_layers
from sequoia.this_machine.memory import free_bytes, size
from sequoia.this_machine.step_timer import as_current_device

_PORTABLE = 1  # cudaHostRegisterPortable: the memory is pinned for all devices
PAGE = 4096  # bytes; memory is pinned in whole pages


class Copier:
    """Copies from host memory to buffers on a device. This one copies within host memory,
    synchronously, for a model that runs on a CPU. Counts are in bytes."""

    def host(self, count: int) -> torch.Tensor:
        """Host memory to copy from, a uint8 tensor (count,). count: a multiple of PAGE. Raises
        OutOfMemory if the memory cannot be pinned."""
        return torch.empty(count, dtype=torch.uint8)

    def buffer(self, count: int) -> torch.Tensor:
        """Memory on the computing device to copy to, a uint8 tensor (count,)."""
        return torch.empty(count, dtype=torch.uint8)

    def begin(self, host: torch.Tensor, buffer: torch.Tensor) -> Any:
        """Start copying `host` to the start of `buffer`. The copy waits for all work queued so far
        on the device's current stream. Returns a ticket for `wait`."""
        buffer[: len(host)].copy_(host)

    def wait(self, ticket: Any) -> None:
        """Make all later work on the device's current stream wait for the copy that belongs to
        `ticket`."""


class CudaCopier(Copier):
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


def copier_for(device: torch.device) -> Copier:
    """A copier whose buffers are on `device`."""
    return CudaCopier(device) if device.type == "cuda" else Copier()


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
        _forget_error(stream)
        free = free_bytes(torch.device("cpu"))
        raise OutOfMemory(
            f"cannot pin another {size(len(pages))} of host memory (CUDA error {code}); "
            f"{size(free)} is free. Keep more layers resident (a larger offload=), or choose a "
            "smaller target"
        )
    weakref.finalize(pages, _unpin, runtime, pages.data_ptr(), stream).atexit = False


def _forget_error(stream: torch.cuda.Stream) -> None:
    """Clear the error that CUDA remembers after a refused call. Otherwise the next kernel launch of
    this thread would raise it. So a kernel is launched here."""
    with suppress(RuntimeError):
        torch.zeros(1, device=stream.device)


def _unpin(runtime: Any, address: int, stream: torch.cuda.Stream) -> None:
    stream.synchronize()
    runtime.cudaHostUnregister(address)


_ALIGNED = 256  # bytes; every weight starts at a multiple of this


class LayerStream:
    """Lets `hf`, a model loaded on the CPU, run on `device`: `resident` of its decoder layers stay
    there, and the others are streamed.

    Only one pass may run at a time. A pass that fails halfway does not affect the next one. Between
    passes the model can be saved.
    """

    def __init__(
        self, hf: Any, resident: int, device: torch.device, copier: Copier | None = None
    ) -> None:
        self._copier = copier or copier_for(device)
        _, modules = decoder_layers(hf)
        streamed = streamed_layers(len(modules), resident)
        self._layers = [_Layer(modules[i], self._copier) for i in streamed]
        _move(hf, device, {id(weight) for layer in self._layers for weight in layer.weights})
        size = max((len(layer.host) for layer in self._layers), default=0)
        self._buffers = [_Buffer(self._copier.buffer(size), self._layers) for _ in self._layers[:2]]
        for i, module in enumerate(streamed):
            modules[module].register_forward_pre_hook(partial(self._before, i))
            modules[module].register_forward_hook(partial(self._after, i))

    # -- in a pass ---------------------------------------------------------------------------------

    def _before(self, i: int, *_: Any) -> None:
        """Hook before streamed layer `i`: wait for its weights and point its parameters at them."""
        buffer = self._buffer_of(i) or self._start(i)
        self._copier.wait(buffer.ticket)
        self._layers[i].point(buffer.views[i])

    def _after(self, i: int, *_: Any) -> None:
        """Hook after streamed layer `i`: reuse its buffer for the layer after next. The next layer
        is in the other buffer."""
        buffer = self._buffer_of(i)
        self._layers[i].rest()
        if buffer:
            self._fetch(self._next(self._next(i)), buffer)

    def _start(self, i: int) -> _Buffer:
        """Copy layer `i` and, if there are two buffers, the next one. Needed in the first pass, or
        after a pass that failed. Returns the buffer of layer `i`."""
        for buffer in self._buffers:
            self._fetch(i, buffer)
            i = self._next(i)
        return self._buffers[0]

    def _fetch(self, i: int, buffer: _Buffer) -> None:
        """Start to copy layer `i` into `buffer`, unless a buffer contains it already."""
        if self._buffer_of(i) is None:
            buffer.layer = None  # stays so if the copy cannot start
            buffer.ticket = self._copier.begin(self._layers[i].host, buffer.memory)
            buffer.layer = i

    def _next(self, i: int) -> int:
        return (i + 1) % len(self._layers)

    def _buffer_of(self, i: int) -> _Buffer | None:
        return next((buffer for buffer in self._buffers if buffer.layer == i), None)


class _Buffer:
    """Memory on the device for one streamed layer. layer: the index of the streamed layer that is
    in it or is being copied into it, or None. ticket: what `Copier.begin` returned for that copy.
    views: for each streamed layer, its weights as views of this memory."""

    def __init__(self, memory: torch.Tensor, layers: Sequence[_Layer]) -> None:
        self.memory = memory
        self.views = [layer.views(memory) for layer in layers]
        self.ticket = None
        self.layer: int | None = None


class _Layer:
    """The weights of one decoder layer, stored one after the other in the host memory `host`."""

    def __init__(self, module: nn.Module, copier: Copier) -> None:
        self.weights = list(module.parameters())
        self._starts = []
        end = 0
        for weight in self.weights:
            self._starts.append(end)
            end += -(-weight.numel() * weight.element_size() // _ALIGNED) * _ALIGNED
        self.host = copier.host(-(-end // PAGE) * PAGE)
        self._resting = self.views(self.host)
        for weight, view in zip(self.weights, self._resting, strict=True):
            view.copy_(weight.data)
            weight.data = view  # frees the memory it had before
        self._at_rest = True

    def views(self, flat: torch.Tensor) -> list[torch.Tensor]:
        """The weights as views of `flat`, a uint8 tensor of at least the length of `host`."""
        return [
            flat[start : start + weight.numel() * weight.element_size()]
            .view(weight.dtype)
            .view(weight.shape)
            for start, weight in zip(self._starts, self.weights, strict=True)
        ]

    def point(self, views: Sequence[torch.Tensor]) -> None:
        """Point the parameters at `views`."""
        for weight, view in zip(self.weights, views, strict=True):
            weight.data = view
        self._at_rest = False

    def rest(self) -> None:
        """Point the parameters at the weights in host memory."""
        if not self._at_rest:
            self.point(self._resting)
            self._at_rest = True


def streamed_layers(layers: int, resident: int) -> tuple[int, ...]:
    """Indices of the layers that are streamed when `resident` of `layers` stay on the device. They
    are spread evenly, so that copies overlap with the computation of resident layers."""
    return tuple(i for i in range(layers) if i * resident // layers == (i + 1) * resident // layers)


def _move(hf: nn.Module, device: torch.device, but: set[int] = frozenset()) -> None:  # pyright: ignore[reportArgumentType]
    """Move to `device` all of the module's buffers, and all of its parameters whose id() is not in
    `but`."""
    for weight in hf.parameters():
        if id(weight) not in but:
            weight.data = weight.data.to(device)
    for module in hf.modules():
        for name, buffer in module.named_buffers(recurse=False):
            module._buffers[name] = buffer.to(device)
