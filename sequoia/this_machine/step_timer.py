"""Wall time of one decoding step by phase, and waiting for a device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache, partial
from typing import Any

import torch


def synchronize(device: torch.device) -> None:
    """Wait until `device` has done what it was given here; a CPU always has. Copies under way on
    streams of their own go on."""
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()


def current(device: torch.device) -> AbstractContextManager[Any]:
    """Within it `device` is the one that CUDA means where none is named, as when a kernel is
    launched or a graph replayed."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@lru_cache(maxsize=16)
def _wait(device: torch.device) -> Callable[[], None] | None:
    """What waits for `device`, or None where there is nothing to wait for."""
    return partial(synchronize, device) if device.type == "cuda" else None


class Clock:
    """Runs from its making on. What is in neither phase is overhead. On CUDA the end of a
    phase, and of the step, waits for the device, which would otherwise still be busy with
    it during the next."""

    def __init__(self, device: torch.device) -> None:
        self._start = time.perf_counter()
        self._wait = _wait(device)
        self._seconds = {"draft": 0.0, "verify": 0.0}
        self._phases = {name: _Phase(self._seconds, name, self._wait) for name in self._seconds}

    def phase(self, name: str) -> _Phase:
        """A context whose time counts for "draft" or "verify"; each is entered once at a time."""
        return self._phases[name]

    def add(self, name: str, seconds: float) -> None:
        """Count `seconds` for a phase."""
        self._seconds[name] += seconds

    def stop(self) -> dict[str, float]:
        """Seconds of the step by phase."""
        if self._wait:
            self._wait()
        total = time.perf_counter() - self._start
        return {**self._seconds, "overhead": total - sum(self._seconds.values())}


class Spans:
    """Stretches of work on a device whose time is wanted, without a wait after each. On CUDA the
    device takes their time down; elsewhere work is over when its call returns."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._found: list[Callable[[], float]] = []

    @contextmanager
    def span(self) -> Iterator[None]:
        """Within it is one stretch."""
        start = self._mark()
        yield
        end = self._mark()
        if isinstance(start, torch.cuda.Event):
            self._found.append(lambda: start.elapsed_time(end) / 1e3)
        else:
            self._found.append(lambda: end - start)

    def total(self) -> float:
        """Seconds of all of them together; waits for the device."""
        synchronize(self._device)
        return sum(found() for found in self._found)

    def _mark(self) -> Any:
        if self._device.type != "cuda":
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event


class _Phase:
    def __init__(
        self, seconds: dict[str, float], name: str, wait: Callable[[], None] | None
    ) -> None:
        self._seconds = seconds
        self._name = name
        self._wait = wait

    def __enter__(self) -> None:
        self._start = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        if self._wait:
            self._wait()
        self._seconds[self._name] += time.perf_counter() - self._start
