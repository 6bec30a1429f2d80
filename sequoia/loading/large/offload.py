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

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from sequoia.loading.large.copier import PAGE, Copier, copier_for
from sequoia.loading.large.model_parts import decoder_layers

_ALIGNED = 256  # bytes; every weight starts at a multiple of this


class LayerStream:
    """Lets `hf`, a model loaded on the CPU, run on `device`: `resident` of its decoder layers stay
    there, and the others are streamed.

    Only one pass may run at a time; `alone` makes other threads wait. A pass that fails halfway
    does not affect the next one. Between passes the model can be saved, or restored with `remove`.
    """

    def __init__(
        self, hf: Any, resident: int, device: torch.device, copier: Copier | None = None
    ) -> None:
        self.hf = hf
        self.device = device
        self._copier = copier or copier_for(device)
        _, modules = decoder_layers(hf)
        streamed = streamed_layers(len(modules), resident)
        self._layers = [_Layer(modules[i], self._copier) for i in streamed]
        _move(hf, device, {id(weight) for layer in self._layers for weight in layer.weights})
        size = max((len(layer.host) for layer in self._layers), default=0)
        self._buffers = [_Buffer(self._copier.buffer(size), self._layers) for _ in self._layers[:2]]
        self._hooks = [
            handle for i, module in enumerate(streamed) for handle in self._hook(i, modules[module])
        ]
        self._lock = threading.Lock()

    def _hook(self, i: int, module: nn.Module) -> tuple[Any, Any]:
        return (
            module.register_forward_pre_hook(partial(self._before, i)),
            module.register_forward_hook(partial(self._after, i)),
        )

    def alone(self, forward: Any) -> Any:
        """`forward` behind a lock, so that one call runs at a time."""

        def locked(*given: Any) -> torch.Tensor:
            with self._lock:
                return forward(*given)

        return locked

    def remove(self) -> None:
        """Restore the model: without hooks, entirely on the CPU, in memory that is not pinned."""
        for handle in self._hooks:
            handle.remove()
        self._copier.finish()
        for layer in self._layers:
            layer.rest()
        _move(self.hf, torch.device("cpu"))
        # frees the buffers and unpins the host memory; the weights stay in that memory
        self._layers.clear()
        self._buffers.clear()

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
