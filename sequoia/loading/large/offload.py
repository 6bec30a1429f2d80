"""Offloading: decoder layers whose weights rest in host memory and come to the computing device
one after the other.

The model is of `transformers` and stays as it is: hooks before and after each streamed layer point
its parameters at one of two buffers. While one layer computes, the next one is copied into the
other buffer; the last layers of a pass are followed by the first ones of the next, so that copying
goes on while the draft is at work. All else, and as many layers as are asked for, stays on the
device. Knows no trees and no memory to be had (see placement.py).
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

_ALIGNED = 256  # bytes; where a weight may begin


class LayerStream:
    """`hf`, loaded on the CPU, made to run on `device` with `resident` of its layers kept there and
    the others streamed.

    One pass at a time: a second thread waits in `alone`. A pass that broke off in the middle leaves
    nothing behind. At rest the model is whole: its parameters are in host memory or on the device,
    so that it can be saved, or taken back by `remove`.
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
        self._slots = [_Slot(self._copier.buffer(size)) for _ in self._layers[:2]]
        self._views = [[layer.views(slot.buffer) for slot in self._slots] for layer in self._layers]
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
        """`forward`, but one call at a time."""

        def locked(*given: Any) -> torch.Tensor:
            with self._lock:
                return forward(*given)

        return locked

    def remove(self) -> None:
        """Give the model back as it was, without hooks: all of it on the CPU, in memory
        that is not pinned."""
        for handle in self._hooks:
            handle.remove()
        self._copier.finish()
        for layer in self._layers:
            layer.rest()
        _move(self.hf, torch.device("cpu"))
        for held in (self._layers, self._slots, self._views):
            # nothing is left of the buffers, and what was pinned is ordinary memory again
            held.clear()

    # -- in a pass ---------------------------------------------------------------------------------

    def _before(self, i: int, *_: Any) -> None:
        """Layer `i` is about to compute: its weights must be there."""
        slot = self._slot_of(i)
        slot = self._start(i) if slot is None else slot
        self._copier.wait(self._slots[slot].ticket)
        self._layers[i].point(self._views[i][slot])

    def _after(self, i: int, *_: Any) -> None:
        """Layer `i` has been given to the device: its buffer is for the layer after the one that
        waits in the other."""
        slot = self._slot_of(i)
        self._layers[i].rest()
        if slot is not None:
            self._fetch(self._next(self._next(i)), slot)

    def _start(self, i: int) -> int:
        """Fill the buffers anew from layer `i` on: in the first pass, or in one after a pass that
        broke off. Where `i` is now."""
        self._fetch(i, 0)
        self._fetch(self._next(i), 1)
        return 0

    def _fetch(self, i: int, slot: int) -> None:
        """Begin to copy layer `i` into the buffer `slot`, unless one of the buffers has it: with
        two layers, both stay."""
        if self._slot_of(i) is None:
            into = self._slots[slot]
            into.holds = None  # if the copy cannot begin, nobody is told that it did
            into.ticket = self._copier.begin(self._layers[i].host, into.buffer)
            into.holds = i

    def _next(self, i: int) -> int:
        return (i + 1) % len(self._layers)

    def _slot_of(self, i: int) -> int | None:
        return next((slot for slot, held in enumerate(self._slots) if held.holds == i), None)


class _Slot:
    """A buffer on the device: the layer it holds or is about to hold, and the ticket of that
    copy."""

    def __init__(self, buffer: torch.Tensor) -> None:
        self.buffer = buffer
        self.ticket = None
        self.holds: int | None = None


class _Layer:
    """The weights of one decoder layer, one after the other in `host`, where they rest."""

    def __init__(self, module: nn.Module, copier: Copier) -> None:
        self.weights = list(module.parameters())
        self._starts = []
        end = 0
        for weight in self.weights:
            self._starts.append(end)
            end += -(-weight.numel() * weight.element_size() // _ALIGNED) * _ALIGNED
        self.host = copier.host(-(-end // PAGE) * PAGE)
        self._resting = self.views(self.host)
        for weight, place in zip(self.weights, self._resting, strict=True):
            place.copy_(weight.data)
            weight.data = place  # what it was before is free from here on
        self._at_rest = True

    def views(self, flat: torch.Tensor) -> list[torch.Tensor]:
        """The weights as they lie in `flat`, which has at least the bytes of `host`."""
        return [
            flat[start : start + weight.numel() * weight.element_size()]
            .view(weight.dtype)
            .view(weight.shape)
            for start, weight in zip(self._starts, self.weights, strict=True)
        ]

    def point(self, places: Sequence[torch.Tensor]) -> None:
        """Let the parameters be `places`."""
        for weight, place in zip(self.weights, places, strict=True):
            weight.data = place
        self._at_rest = False

    def rest(self) -> None:
        """Let the parameters be what lies in host memory."""
        if not self._at_rest:
            self.point(self._resting)
            self._at_rest = True


def streamed_layers(layers: int, resident: int) -> tuple[int, ...]:
    """Which of `layers` layers are streamed when `resident` are not. Spread evenly, as copying also
    goes on while a resident layer computes."""
    return tuple(i for i in range(layers) if i * resident // layers == (i + 1) * resident // layers)


def _move(hf: nn.Module, device: torch.device, but: set[int] = frozenset()) -> None:  # pyright: ignore[reportArgumentType]
    """Bring all parameters, except those with an id in `but`, and all buffers to `device`."""
    for weight in hf.parameters():
        if id(weight) not in but:
            weight.data = weight.data.to(device)
    for module in hf.modules():
        for name, buffer in module.named_buffers(recurse=False):
            module._buffers[name] = buffer.to(device)
