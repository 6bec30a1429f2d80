"""A stand-in for the capture of CUDA graphs, where there is no GPU."""

from __future__ import annotations

from collections.abc import Callable

import torch


class CountingCapture:
    """Stands in for CudaCapture and counts captures. A replay does the work again. A real graph
    would not read the Python number `start` of a cache layer, so a replay hides `start` from the
    work."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, work: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
        self.count += 1
        layers = self._layers(work)

        def replay() -> torch.Tensor:
            starts = [layer.start for layer in layers]
            for layer in layers:
                layer.start = -(10**9)
            try:
                return work()
            finally:
                for layer, start in zip(layers, starts, strict=True):
                    layer.start = start

        work()
        return replay

    @staticmethod
    def _layers(work: Callable[[], torch.Tensor]) -> list:
        held = dict(zip(work.__code__.co_freevars, work.__closure__ or (), strict=True))
        return held["kv_cache"].cell_contents.cache_layers
