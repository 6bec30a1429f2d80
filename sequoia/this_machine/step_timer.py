"""Timers for the phases of a decoding step and for work on a device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch


def synchronize(device: torch.device) -> None:
    """Wait for the work on the current stream of `device`, but not for work on other streams, such
    as copies. On a CPU, return at once."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()


def as_current_device(device: torch.device) -> AbstractContextManager[Any]:
    """A context in which `device` is the current CUDA device. On a CPU, an empty context."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


class Clock:
    """Times one step, which starts when the clock is created. Time outside the two phases "draft"
    and "verify" is overhead. The end of a phase waits for the device, so that work started in one
    phase is not counted in the next."""

    def __init__(self, device: torch.device) -> None:
        self._start = time.perf_counter()
        self._device = device
        self._spans: dict[str, list[float]] = {"draft": [], "verify": []}
        self._phases = {name: _Phase(spans, device) for name, spans in self._spans.items()}

    def phase(self, name: str) -> _Phase:
        """A context whose time is added to "draft" or "verify". Phases must not be nested."""
        return self._phases[name]

    def add(self, name: str, seconds: float) -> None:
        """Add `seconds` to the phase `name`."""
        self._spans[name].append(seconds)

    def spans(self, name: str) -> tuple[float, ...]:
        """The seconds of each part of the phase `name`, in order. Each use of `phase` and each call
        of `add` is a part."""
        return tuple(self._spans[name])

    def stop(self) -> dict[str, float]:
        """Seconds of the step so far: {"draft", "verify", "overhead"}."""
        synchronize(self._device)
        total = time.perf_counter() - self._start
        seconds = {name: sum(spans, 0.0) for name, spans in self._spans.items()}
        return {**seconds, "overhead": total - sum(seconds.values())}


class Spans:
    """Times several pieces of work on a device without waiting after each of them. On CUDA, events
    on the device measure the times. On a CPU, the host's clock is enough, because work has ended
    when its call returns."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._elapsed: list[Callable[[], float]] = []

    @contextmanager
    def span(self) -> Iterator[None]:
        """A context around one piece of work."""
        start = self._mark()
        yield
        end = self._mark()
        if isinstance(start, torch.cuda.Event):
            self._elapsed.append(lambda: start.elapsed_time(end) / 1e3)
        else:
            self._elapsed.append(lambda: end - start)

    def seconds(self) -> list[float]:
        """Seconds of each piece of work, in order. Waits for the device once."""
        synchronize(self._device)
        return [elapsed() for elapsed in self._elapsed]

    def _mark(self) -> Any:
        if self._device.type != "cuda":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event


class _Phase:
    """A context that appends its seconds to `spans`."""

    def __init__(self, spans: list[float], device: torch.device) -> None:
        self._spans = spans
        self._device = device

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        synchronize(self._device)
        self._spans.append(time.perf_counter() - self._start)
