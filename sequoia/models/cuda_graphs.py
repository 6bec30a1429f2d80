"""CUDA graphs of a model's forward. A pass over a tree level has few rows, so launching its kernels
one by one would take longer than running them.

A graph is for one KV cache, one number of input rows and one reach, which is the number of cache
slots that it attends to. It computes the logits of all rows or only those of the last. It reads its
inputs (ids, positions, mask, and the indices of the cache slots to write) from tensors whose
addresses never change.

The reach is the length of prefix and input, rounded up to 1, 2, 3, 4, 6, 8, 12, ... times STEP, but
not beyond the cache's capacity. Unused slots are masked out, so one graph works for every prefix
that fits its reach.
"""

from __future__ import annotations

import gc
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch

from sequoia.models.cache_and_mask import KVCache
from sequoia.this_machine.memory import is_out_of_memory
from sequoia.this_machine.step_timer import as_current_device

_log = logging.getLogger(__name__)

Forward = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, KVCache, bool], torch.Tensor]
_Size = tuple[int, int, bool]  # rows, reach, last_only
# runs some work, directly or from its graph, and returns the tensor that contains its result
Replay = Callable[[], torch.Tensor]
# captures work, and returns the function that replays it
Capture = Callable[[Replay], Replay]

# passes before a capture: in the first ones, libraries choose kernels and allocate memory
_WARM_UPS = 3

STEP = 512  # slots in the shortest reach
MOST_ROWS = 1024  # larger passes keep the GPU busy without a graph
# limit of graphs for one KV cache: dynamic trees have many sizes, and each graph needs memory for a
# mask of its own
MOST_SIZES = 32
# KV caches kept from finished runs: a race is up to four runs side by side, each with its own cache
MOST_SPARES = 4
# a run may reuse a cache of up to this many times the (rounded) capacity that it asks for
_MOST_TOO_LARGE = 4
# How many passes of a size run without a graph before it is captured. Many sizes, such as those of
# dynamic trees, occur only a few times. On an H100, a capture took as long as about ten such
# passes.
PASSES_BEFORE_CAPTURE = 8
PASSES_BEFORE_CAPTURE_WHEN_FULL = 16  # if the new graph replaces another one
_LEAST_ROWS = 64  # rows of the smallest buffer for logits


class GraphedForward:
    """A Forward (ids, positions, mask, kv_cache, last_only) that runs passes of frequent sizes
    through CUDA graphs of `forward`, and all others through `forward` itself.

    plain: `forward` itself. failed: why capturing was abandoned, None if it was not. Once `failed`
    is set, only `plain` is used. Graphs are dropped together with their KV cache.
    """

    def __init__(self, forward: Forward, capture: Capture) -> None:
        self.failed: str | None = None
        self.plain = forward
        self._capture_work = capture
        self._capturing = False
        self._graphs: WeakKeyDictionary[KVCache, dict[_Size, _CapturedForward]] = (
            WeakKeyDictionary()
        )
        self._passes: WeakKeyDictionary[KVCache, Counter[_Size]] = WeakKeyDictionary()
        # (rows, last_only) of sizes that are known to recur
        self._recurring: WeakKeyDictionary[KVCache, set[tuple[int, bool]]] = WeakKeyDictionary()
        self._results = _Results()
        self._spares: list[KVCache] = []  # KV caches of finished runs, the oldest first

    @property
    def name(self) -> str:
        """The forward in words."""
        name = getattr(self.plain, "name", "transformers")
        return (
            f"{name} (no CUDA graphs: {self.failed})" if self.failed else f"{name}, as CUDA graphs"
        )

    def __call__(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        kv_cache: KVCache,
        last_only: bool,
    ) -> torch.Tensor:
        """Logits (rows, vocab), or (1, vocab) with `last_only`. The next call may overwrite
        them."""
        rows = ids.shape[1]
        captured = None
        # Prefills are not captured, because the same prompt length seldom occurs again. With
        # `last_only`, passes over more than 2 rows are nearly always prefills.
        if self.failed is None and rows <= (2 if last_only else MOST_ROWS):
            captured = self._captured(kv_cache, rows, mask, last_only)
        if captured is None:
            return self.plain(ids, positions, mask, kv_cache, last_only)
        return captured(ids, positions, mask, kv_cache)

    @property
    def count(self) -> int:
        """Number of graphs, over all KV caches."""
        return sum(map(len, self._graphs.values()))

    def acquire(self, layers: int, capacity: int, alike: bool = False) -> KVCache:
        """A KV cache of at least `capacity` slots. If a spare fits, it is reused with its graphs.
        Otherwise the oldest spare is dropped and a new cache is made. The capacity is rounded up to
        a multiple of STEP, so that more runs fit the same cache. For `alike` see KVCache."""
        rounded = -(-capacity // STEP) * STEP
        fitting = [
            spare
            for spare in self._spares
            if len(spare.cache_layers) == layers
            and rounded <= spare.capacity <= _MOST_TOO_LARGE * rounded
        ]
        if not fitting:
            del self._spares[:1]
            return KVCache(layers, rounded, alike)
        spare = min(fitting, key=lambda one: one.capacity)
        self._spares.remove(spare)
        spare.clear()
        self._recurring.pop(spare, None)  # the sizes of an earlier run's tree
        return spare

    def release(self, kv_cache: KVCache | None) -> None:
        """Keep the KV cache of a finished run as a spare for a later run. At most MOST_SPARES are
        kept, the latest ones. None frees all spares."""
        if kv_cache is None:
            self._spares.clear()
            return
        self._spares.append(kv_cache)
        del self._spares[:-MOST_SPARES]

    def ahead(self, kv_cache: KVCache, columns: int) -> list[tuple[int, bool]]:
        """The recurring sizes (rows, last_only) without a graph for passes over `columns` slots.
        Empty if capturing was abandoned."""
        if self.failed is not None:
            return []
        reach = reach_of(columns, kv_cache.capacity)
        graphs = self._graphs.get(kv_cache, {})
        recurring = sorted(self._recurring.get(kv_cache, ()))
        return [one for one in recurring if (one[0], reach, one[1]) not in graphs]

    def capture_ahead(
        self, kv_cache: KVCache, rows: int, last_only: bool, columns: int, like: torch.Tensor
    ) -> None:
        """Capture one of the sizes that `ahead` returned. The caller has reserved `rows` slots of
        `kv_cache`. like: any mask of the model, for its dtype and device."""
        size = (rows, reach_of(columns, kv_cache.capacity), last_only)
        self._add(self._graphs.setdefault(kv_cache, {}), kv_cache, size, like)

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """A context in which every size that can have a graph is marked as recurring when it
        occurs. A recurring size is captured at its first pass with each reach, not only after
        PASSES_BEFORE_CAPTURE passes."""
        self._capturing = True
        try:
            yield
        finally:
            self._capturing = False

    def _captured(
        self, kv_cache: KVCache, rows: int, mask: torch.Tensor, last_only: bool
    ) -> _CapturedForward | None:
        graphs = self._graphs.setdefault(kv_cache, {})
        size = (rows, reach_of(mask.shape[-1], kv_cache.capacity), last_only)
        if self._capturing:
            self._recurring.setdefault(kv_cache, set()).add((rows, last_only))
        if size in graphs:
            graphs[size] = graphs.pop(size)  # moved to the end, as the most recently used one
            graphs[size].is_recurring |= self._capturing
        elif self._due(kv_cache, size, len(graphs)):
            self._add(graphs, kv_cache, size, mask)
        return graphs.get(size)

    def _due(self, kv_cache: KVCache, size: _Size, graphs: int) -> bool:
        """Whether to capture this pass. graphs: the number of graphs for `kv_cache`."""
        rows, _, last_only = size
        recurring = self._recurring.get(kv_cache, ())
        passes = self._passes.setdefault(kv_cache, Counter())
        passes[size] += 1
        due = (rows, last_only) in recurring or passes[size] > (
            PASSES_BEFORE_CAPTURE if graphs < MOST_SIZES else PASSES_BEFORE_CAPTURE_WHEN_FULL
        )
        if due:
            del passes[size]  # if the graph is dropped, counting starts again
        return due

    def _add(
        self,
        graphs: dict[_Size, _CapturedForward],
        kv_cache: KVCache,
        size: _Size,
        mask: torch.Tensor,
    ) -> None:
        """Capture one more size and, if there are then too many graphs, drop one of the others."""
        rows, _, last_only = size
        try:
            graphs[size] = _CapturedForward(
                self.plain, self._capture_work, self._results, kv_cache, size, mask
            )
            graphs[size].is_recurring = (rows, last_only) in self._recurring.get(kv_cache, ())
        except RuntimeError as problem:
            if is_out_of_memory(problem):
                _log.warning(
                    "no memory to capture a CUDA graph for %d rows; passes of this size run "
                    "without one for now",
                    rows,
                )
                # so that the next attempt comes only after several passes
                self._recurring.get(kv_cache, set()).discard((rows, last_only))
            else:  # the model does something that CUDA cannot capture
                self._abandon(problem)
        if len(graphs) > MOST_SIZES:
            del graphs[_to_drop(graphs)]

    def _abandon(self, problem: RuntimeError) -> None:
        """Drop all graphs and use the plain forward from now on."""
        self.failed = " ".join(str(problem).split())[:200]
        self._graphs.clear()
        _log.warning(
            "the forward pass cannot be captured as a CUDA graph and runs without one from now on: "
            "%s",
            self.failed,
        )


def _to_drop(graphs: Mapping[_Size, _CapturedForward]) -> _Size:
    """The size whose graph is to be dropped. It is never the one just added. Of the rest, sizes
    that are not recurring go first, the least recently used before the others. The next run with
    the same tree needs all recurring sizes."""
    others = [*graphs][:-1]
    return min(others, key=lambda size: graphs[size].is_recurring)


def reach_of(columns: int, capacity: int) -> int:
    """The reach of the graph for a pass over `columns` slots. It is rounded up coarsely, because
    more different reaches would need more captures, and slots that are masked out cost little."""
    steps = -(-columns // STEP)
    dropped = max(0, steps.bit_length() - 2)  # `steps` is rounded up to its first two binary digits
    return min((-(-steps >> dropped) << dropped) * STEP, capacity)


def result_rows(rows: int) -> int:
    """Rows of the buffer for the logits of a pass over `rows` rows: a power of two, at least
    _LEAST_ROWS."""
    return max(_LEAST_ROWS, 1 << (rows - 1).bit_length())


class _Results:
    """One buffer for the logits of all graphs, since a result is valid only until the next pass. A
    larger graph gets a larger buffer, which later graphs use too. The earlier graphs keep the
    smaller buffers alive."""

    def __init__(self) -> None:
        self._logits: torch.Tensor | None = None

    def of(self, logits: torch.Tensor) -> torch.Tensor:
        """The part of the buffer for `logits` (rows, vocab). Called in the warm-up passes first, so
        that nothing is allocated during the capture."""
        rows = len(logits)
        found = self._logits
        if found is None or len(found) < rows or found.dtype != logits.dtype:
            found = self._logits = logits.new_empty(result_rows(rows), logits.shape[1])
        return found[:rows]


class _CapturedForward:
    """The graph of one size for one KV cache. It has no reference to the cache, which would
    otherwise never be freed.

    is_recurring: whether the size was used inside `capturing`, or counted as recurring when the
    graph was captured. In a run with a fixed tree, every step needs its recurring sizes.
    """

    is_recurring = False

    def __init__(
        self,
        forward: Forward,
        capture: Capture,
        results: _Results,
        kv_cache: KVCache,
        size: _Size,
        like: torch.Tensor,
    ) -> None:
        rows, reach, last_only = size
        self._reach = reach
        self._closed = torch.finfo(like.dtype).min
        self._ids = torch.zeros(1, rows, dtype=torch.long, device=like.device)
        self._positions = torch.zeros_like(self._ids)
        self._indices = torch.arange(rows, device=like.device) + kv_cache.start
        self._mask = like.new_full((1, 1, rows, reach), self._closed)
        # a row that attends to nothing could give NaN, which the warm-up passes write to the cache
        self._mask[..., :1] = 0

        def work() -> torch.Tensor:
            logits = forward(self._ids, self._positions, self._mask, kv_cache, last_only)
            return results.of(logits).copy_(logits)

        with kv_cache.fixed_window(self._indices, reach):
            self._replay = capture(work)

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, kv_cache: KVCache
    ) -> torch.Tensor:
        start = kv_cache.start
        columns = mask.shape[-1]
        self._ids.copy_(ids)
        self._positions.copy_(positions)
        torch.arange(start, start + len(self._indices), out=self._indices)
        self._mask[..., :columns].copy_(mask)
        self._mask[..., columns:].fill_(self._closed)
        with kv_cache.fixed_window(self._indices, self._reach):
            return self._replay()


# -- one capture -----------------------------------------------------------------------------------


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
