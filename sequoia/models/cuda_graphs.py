"""A forward recorded once for each size and replayed: on CUDA, launching a model's kernels one by
one takes longer than running them for the few rows of a tree's level. The model's own forward is
what is recorded; only its inputs stand still.

A recording reads ids, positions, mask and the place of its new rows from tensors that never move,
and attends to all columns up to a rounded-up reach, those not in use closed by the mask. So one
recording serves every prefix within its reach.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from weakref import WeakKeyDictionary

import torch

from sequoia.models.kv_cache import KVCache
from sequoia.this_machine.step_timer import current

_log = logging.getLogger(__name__)

Forward = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, KVCache, bool], torch.Tensor]
# does the work again and gives the tensor that holds its result
Replay = Callable[[], torch.Tensor]
Capture = Callable[[Replay], Replay]
_Size = tuple[int, int, bool]  # rows, reach, last_only

STEP = 512  # columns by which reaches differ
MOST_ROWS = 1024  # larger passes keep the device busy by themselves
# recorded over one run's slots; each holds its logits, and trees that grow have many sizes
MOST_SIZES = 32
# passes of a size that nobody announced before one is recorded: many a size comes but once or twice
PASSES_BEFORE_CAPTURE = 2
PASSES_BEFORE_CAPTURE_WHEN_FULL = 16  # the same where another size has to go for it
# libraries choose their kernels and allocate in the first runs, which a recording must not hold
_WARM_UPS = 3


class GraphedForward:
    """`forward(ids, positions, mask, kv_cache, last_only)` as models.py asks for it. `failed`: why
    recording was given up, if it was; the plain forward then goes on. What was recorded over some
    slots goes when they go."""

    def __init__(self, forward: Forward, capture: Capture) -> None:
        self.failed: str | None = None
        self._forward = forward
        self._capture_work = capture
        self._capturing = False
        self._recordings: WeakKeyDictionary[KVCache, dict[_Size, _CapturedForward]] = (
            WeakKeyDictionary()
        )
        self._passes: WeakKeyDictionary[KVCache, Counter[_Size]] = WeakKeyDictionary()
        self._spare: KVCache | None = None

    @property
    def name(self) -> str:
        return (
            f"transformers (no CUDA graphs: {self.failed})"
            if self.failed
            else "transformers, as CUDA graphs"
        )

    def __call__(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        kv_cache: KVCache,
        last_only: bool,
    ) -> torch.Tensor:
        """Logits (rows, vocab), or (1, vocab) with `last_only`, that the next call may
        overwrite."""
        rows = ids.shape[1]
        if self.failed is not None or rows > (
            2 if last_only else MOST_ROWS
        ):  # a prompt's length comes but once
            return self._forward(ids, positions, mask, kv_cache, last_only)
        captured = self._captured(kv_cache, rows, mask, last_only)
        return (
            captured(ids, positions, mask, kv_cache)
            if captured
            else self._forward(ids, positions, mask, kv_cache, last_only)
        )

    def acquire(self, layers: int, capacity: int) -> KVCache:
        """Slots for a run of `capacity` rows, a few more so that many runs have as many: those of a
        run that is over, with all that was recorded over them, or new ones."""
        rounded = -(-capacity // STEP) * STEP
        spare = self._spare
        self._spare = None
        if spare is None or (len(spare.cache_layers), spare.capacity) != (layers, rounded):
            return KVCache(layers, rounded)
        spare.clear()
        return spare

    def release(self, kv_cache: KVCache | None) -> None:
        """Keep the slots of a run that is over for the next one, and no others; None lets go of
        them."""
        self._spare = kv_cache

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """Within it every size is recorded at once: it will come again."""
        self._capturing = True
        try:
            yield
        finally:
            self._capturing = False

    def _captured(
        self, kv_cache: KVCache, rows: int, mask: torch.Tensor, last_only: bool
    ) -> _CapturedForward | None:
        known = self._recordings.setdefault(kv_cache, {})
        size = (rows, reach_of(mask.shape[-1], kv_cache.capacity), last_only)
        if size in known:
            known[size] = known.pop(size)  # now the one used last
        elif self._due(kv_cache, size, len(known)):
            self._add(known, kv_cache, size, mask)
        return known.get(size)

    def _due(self, kv_cache: KVCache, size: _Size, known: int) -> bool:
        """Whether a pass of this size is to be recorded, beside so many that are known."""
        passes = self._passes.setdefault(kv_cache, Counter())
        passes[size] += 1
        due = self._capturing or passes[size] > (
            PASSES_BEFORE_CAPTURE if known < MOST_SIZES else PASSES_BEFORE_CAPTURE_WHEN_FULL
        )
        if due:
            del passes[size]  # should the recording go again, counting begins anew
        return due

    def _add(
        self,
        known: dict[_Size, _CapturedForward],
        kv_cache: KVCache,
        size: _Size,
        mask: torch.Tensor,
    ) -> None:
        """Record one size more; the one that has not been used for the longest time goes where
        there are too many."""
        try:
            known[size] = _CapturedForward(self._forward, self._capture_work, kv_cache, size, mask)
        except torch.OutOfMemoryError:
            _log.warning(
                "there was no memory to record a pass of %d rows, which runs as it is", size[0]
            )
        except (
            RuntimeError
        ) as problem:  # what CUDA raises where a model does something that cannot be recorded
            self.failed = " ".join(str(problem).split())[:200]
            self._recordings.clear()
            _log.warning(
                "a forward could not be recorded, and runs as it is from now on: %s", self.failed
            )
        if len(known) > MOST_SIZES:
            del known[next(iter(known))]


def reach_of(columns: int, capacity: int) -> int:
    """Columns a recording attends to that serves `columns`."""
    return min(-(-columns // STEP) * STEP, capacity)


class _CapturedForward:
    """One size over some slots, which are none of its own: they would never be let go of."""

    def __init__(
        self, forward: Forward, capture: Capture, kv_cache: KVCache, size: _Size, like: torch.Tensor
    ) -> None:
        rows, reach, last_only = size
        self._reach = reach
        self._closed = torch.finfo(like.dtype).min
        self._ids = torch.zeros(1, rows, dtype=torch.long, device=like.device)
        self._positions = torch.zeros_like(self._ids)
        self._where = torch.arange(rows, device=like.device) + kv_cache.start
        self._mask = like.new_full((1, 1, rows, reach), self._closed)
        self._mask[..., :1] = 0  # a row that sees nothing would be NaN while recording
        with kv_cache.fixed_window(self._where, reach):
            self._replay = capture(
                lambda: forward(self._ids, self._positions, self._mask, kv_cache, last_only)
            )

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, kv_cache: KVCache
    ) -> torch.Tensor:
        start = kv_cache.start
        columns = mask.shape[-1]
        self._ids.copy_(ids)
        self._positions.copy_(positions)
        torch.arange(start, start + len(self._where), out=self._where)
        self._mask[..., :columns].copy_(mask)
        self._mask[..., columns:].fill_(self._closed)
        with kv_cache.fixed_window(self._where, self._reach):
            return self._replay()


class CudaCapture:
    """Records work as CUDA graphs of one device, which share memory for what lies between their
    inputs and their results: they are replayed one after the other, and a result holds until the
    next replay of any of them."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        with current(device):
            self._pool = torch.cuda.graph_pool_handle()
            self._side = torch.cuda.Stream()
            # A pool ends with its last graph, for good; all of a run's go at once.
            self._keeper = self._capture(partial(torch.zeros, 1, device=device))

    def __call__(self, work: Replay) -> Replay:
        with current(self._device):
            graph, result = self._capture(work)

        def replay() -> torch.Tensor:
            with current(self._device):
                graph.replay()
            return result

        return replay

    def _capture(self, work: Replay) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
        here = torch.cuda.current_stream()
        self._side.wait_stream(here)
        with torch.cuda.stream(self._side):
            for _ in range(_WARM_UPS):
                work()
        here.wait_stream(self._side)
        graph = torch.cuda.CUDAGraph()
        # The first stream: a capture that fails does not come back from its own. That one has the
        # libraries' workspaces already, and is of this device, as torch's own choice is of the
        # first device that ever recorded. Other threads may go on.
        with (
            torch.cuda.stream(here),
            torch.cuda.graph(graph, self._pool, self._side, capture_error_mode="thread_local"),
        ):
            result = work()
        return graph, result
