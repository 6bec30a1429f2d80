"""Captures work as CUDA graphs on one device."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import torch

from sequoia.this_machine.step_timer import as_current_device

# runs some work, directly or from its graph, and returns the tensor that contains its result
Replay = Callable[[], torch.Tensor]
# captures work, and returns the function that replays it
Capture = Callable[[Replay], Replay]

# passes before a capture: in the first ones, libraries choose kernels and allocate memory
_WARM_UPS = 3


class CudaCapture:
    """Captures work as CUDA graphs on one device. The graphs share the memory for their
    intermediate results. So only one may be replayed at a time, and a result is valid until the
    next replay."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        with as_current_device(device):
            self._pool = torch.cuda.graph_pool_handle()
            self._side = torch.cuda.Stream()
            # A pool is closed for good with its last graph. This graph keeps it open when all
            # graphs of a run are dropped at once.
            self._keeper = self._capture(partial(torch.zeros, 1, device=device))

    def __call__(self, work: Replay) -> Replay:
        with as_current_device(self._device):
            graph, result = self._capture(work)

        def replay() -> torch.Tensor:
            with as_current_device(self._device):
                graph.replay()
            return result

        return replay

    def _capture(self, work: Replay) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
        here = torch.cuda.current_stream()
        self._side.wait_stream(here)
        try:
            with torch.cuda.stream(self._side):
                for _ in range(_WARM_UPS):
                    work()
        finally:
            # Wait even after an error: the caller then runs the plain forward, which writes to the
            # same cache slots as the passes that were started here.
            here.wait_stream(self._side)
        first: list[Exception] = []
        try:
            return self._recorded(partial(_noting_errors, work, first), self._pool)
        except RuntimeError as last:
            self._end_capture_mode()
            raise first[0] if first else last  # noqa: B904  first[0] is the context of `last`

    def _recorded(
        self, work: Replay, pool: Any = None
    ) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
        """The graph of `work`, and the tensor for its result. pool: where its intermediate results
        are; None for a new pool."""
        graph = torch.cuda.CUDAGraph()
        here = torch.cuda.current_stream()
        # A failed capture leaves torch on the side stream, so the outer context restores the
        # current stream. We pass a side stream of our own, because torch's default stream for
        # captures belongs to the device that captured first. Another reason is that in the warm-up
        # passes, libraries have allocated workspaces for our stream. "thread_local" allows other
        # threads to use CUDA meanwhile.
        with (
            torch.cuda.stream(here),
            torch.cuda.graph(graph, pool, self._side, capture_error_mode="thread_local"),
            _no_garbage_collection(),
        ):
            result = work()
        return graph, result

    def _end_capture_mode(self) -> None:
        """Make the default random number generator of the device usable again. A failed capture
        leaves it in a mode in which it refuses to draw. The next successful capture ends that mode,
        so this method captures something small."""
        with suppress(RuntimeError):
            self._recorded(partial(torch.zeros, 1, device=self._device))


def _noting_errors(work: Replay, errors: list[Exception]) -> torch.Tensor:
    """The result of `work`. An error that it raises is also added to `errors`, because the end of
    the failed capture raises another error that hides it."""
    try:
        return work()
    except Exception as problem:
        errors.append(problem)
        raise


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A context without garbage collection. Freeing some objects, such as pinned memory, waits for
    the device. During a capture, this would make the capture fail."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
