"""CUDA graphs of the model's own forward, one for each size of its input. A tree level has few
nodes, so launching the kernels one by one would take longer than running them.

A graph reads ids, positions, mask and the cache slots to write from tensors whose addresses never
change. It attends to a fixed number of cache slots, its reach: the length of prefix and input
rounded up to 1, 2, 3, 4, 6, 8, 12, ... times STEP (at most the capacity). Unused slots are masked
out, so one graph serves every prefix within its reach.
"""

from __future__ import annotations

import gc
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from weakref import WeakKeyDictionary

import torch

from sequoia.models.kv_cache import KVCache
from sequoia.this_machine.memory import is_out_of_memory
from sequoia.this_machine.step_timer import as_current_device

_log = logging.getLogger(__name__)

Forward = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, KVCache, bool], torch.Tensor]
# does the work again and returns the tensor that holds its result
Replay = Callable[[], torch.Tensor]
Capture = Callable[[Replay], Replay]
_Size = tuple[int, int, bool]  # rows, reach, last_only

STEP = 512  # columns of the shortest reach
MOST_ROWS = 1024  # larger passes keep the GPU busy without a graph
# graphs of one KV cache: each holds its mask, and dynamic trees have many sizes
MOST_SIZES = 32
MOST_SPARES = 4  # KV caches of finished runs that are kept: a race has so many
_MOST_TOO_LARGE = 4  # a run may get a cache with so many times the slots it asks for
# Many sizes occur only once or twice; capturing those would not pay.
PASSES_BEFORE_CAPTURE = 2
PASSES_BEFORE_CAPTURE_WHEN_FULL = 16  # the same where another graph has to be dropped for it
_LEAST_ROWS = 64  # of the memory for logits
# libraries choose kernels and allocate during the first passes, which must not be captured
_WARM_UPS = 3


class GraphedForward:
    """Runs `forward` through CUDA graphs where that is faster; has the signature of Forward: (ids,
    positions, mask, kv_cache, last_only).

    plain: the forward itself. `failed`: why capturing was abandoned, or None. Once it is set, the
    plain forward is always used. Graphs are dropped together with the KV cache they write to.
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
        # rows and last_only of sizes that are known to recur
        self._recurring: WeakKeyDictionary[KVCache, set[tuple[int, bool]]] = WeakKeyDictionary()
        self._results = _Results()
        self._spares: list[KVCache] = []  # of finished runs, the first released first

    @property
    def name(self) -> str:
        if self.failed:
            return f"transformers (no CUDA graphs: {self.failed})"
        return "transformers, as CUDA graphs"

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
        # each prompt length occurs only once, so prefills are not captured
        if self.failed is None and rows <= (2 if last_only else MOST_ROWS):
            captured = self._captured(kv_cache, rows, mask, last_only)
        if captured is None:
            return self.plain(ids, positions, mask, kv_cache, last_only)
        return captured(ids, positions, mask, kv_cache)

    def count(self, kv_cache: KVCache) -> int:
        """How many graphs write to `kv_cache`."""
        return len(self._graphs.get(kv_cache, ()))

    def acquire(self, layers: int, capacity: int, alike: bool = False) -> KVCache:
        """A KV cache of at least `capacity` slots: one released by an earlier run, with its graphs,
        or a new one, for which a stored one is dropped. So there are never more than were in use at
        the same time. The capacity is rounded up, so that many runs ask for the same."""
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
        return spare

    def release(self, kv_cache: KVCache | None) -> None:
        """Keep the KV cache of a finished run for a later one, and a few others. Pass None to free
        all of them."""
        if kv_cache is None:
            self._spares.clear()
            return
        self._spares.append(kv_cache)
        del self._spares[:-MOST_SPARES]

    def ahead(self, kv_cache: KVCache, columns: int) -> list[tuple[int, bool]]:
        """Rows and last_only of recurring sizes that a pass over `columns` columns would have to
        capture first."""
        if self.failed is not None:
            return []
        reach = reach_of(columns, kv_cache.capacity)
        graphs = self._graphs.get(kv_cache, {})
        recurring = sorted(self._recurring.get(kv_cache, ()))
        return [one for one in recurring if (one[0], reach, one[1]) not in graphs]

    def capture_ahead(
        self, kv_cache: KVCache, rows: int, last_only: bool, columns: int, like: torch.Tensor
    ) -> None:
        """Capture one of those sizes, for which `kv_cache` has reserved rows. like: any mask of the
        model."""
        size = (rows, reach_of(columns, kv_cache.capacity), last_only)
        self._add(self._graphs.setdefault(kv_cache, {}), kv_cache, size, like)

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """A context in which every size is captured at its first pass, because it is known to
        recur. Later it is captured at its first pass of every other reach, too."""
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
        if size in graphs:
            graphs[size] = graphs.pop(size)  # moved to the end: used last
        elif self._due(kv_cache, size, len(graphs)):
            self._add(graphs, kv_cache, size, mask)
        return graphs.get(size)

    def _due(self, kv_cache: KVCache, size: _Size, graphs: int) -> bool:
        """Whether to capture a pass of this size now, given that `graphs` graphs already exist."""
        rows, _, last_only = size
        recurring = self._recurring.setdefault(kv_cache, set())
        if self._capturing:
            recurring.add((rows, last_only))
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
        """Capture one more size. Where there are too many graphs, the least recently used one is
        dropped."""
        try:
            graphs[size] = _CapturedForward(
                self.plain, self._capture_work, self._results, kv_cache, size, mask
            )
        except RuntimeError as problem:
            if is_out_of_memory(problem):
                _log.warning(
                    "no memory to capture a CUDA graph of %d rows; this pass runs without one",
                    size[0],
                )
                self._recurring.get(kv_cache, set()).discard((size[0], size[2]))  # try less often
            else:  # the model does something that CUDA cannot capture
                self._abandon(problem)
        if len(graphs) > MOST_SIZES:
            del graphs[next(iter(graphs))]

    def _abandon(self, problem: RuntimeError) -> None:
        """Use the plain forward from now on."""
        self.failed = " ".join(str(problem).split())[:200]
        self._graphs.clear()
        _log.warning(
            "the forward pass cannot be captured as a CUDA graph and runs without one from now on: "
            "%s",
            self.failed,
        )


def reach_of(columns: int, capacity: int) -> int:
    """Columns that the graph for a pass over `columns` attends to. Two reaches for each doubling:
    every new one costs a capture of each size, and columns that are masked out cost little."""
    steps = -(-columns // STEP)
    dropped = max(0, steps.bit_length() - 2)  # binary digits after the first two
    return min((-(-steps >> dropped) << dropped) * STEP, capacity)


def result_rows(rows: int) -> int:
    """Rows of the memory for the logits of a pass over `rows` rows."""
    return max(_LEAST_ROWS, 1 << (rows - 1).bit_length())


class _Results:
    """Memory outside the graphs for the logits of all of them, as a result holds only until the
    next pass. It grows in powers of two, so that all of it is at most twice the last part."""

    def __init__(self) -> None:
        self._logits: torch.Tensor | None = None

    def of(self, logits: torch.Tensor) -> torch.Tensor:
        """Where `logits` (rows, vocab) go. Called in passes before the capture first."""
        rows = len(logits)
        found = self._logits
        if found is None or len(found) < rows or found.dtype != logits.dtype:
            found = self._logits = logits.new_empty(result_rows(rows), logits.shape[1])
        return found[:rows]


class _CapturedForward:
    """The graph of one size for one KV cache. It holds no reference to the cache, which would
    otherwise never be freed."""

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
        self._mask[..., :1] = 0  # a row with every column closed would give NaN during the capture

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


class CudaCapture:
    """Captures work as CUDA graphs of one device. The graphs share the memory of their intermediate
    results, so they are replayed one after the other, and a result holds until the next replay of
    any of them."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        with as_current_device(device):
            self._pool = torch.cuda.graph_pool_handle()
            self._side = torch.cuda.Stream()
            # The pool ends for good with its last graph. This one keeps it alive when all graphs
            # of a run are dropped at once.
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
            # also after an error: the plain forward comes next, and the passes that were begun
            # here still write to the same cache slots
            here.wait_stream(self._side)
        graph = torch.cuda.CUDAGraph()
        # The outer context restores the current stream, because a failed capture leaves torch on
        # the side stream. We capture on our own side stream because it belongs to this device and
        # already has the libraries' workspaces; torch's default belongs to whichever device
        # captured first. "thread_local" lets other threads use CUDA meanwhile.
        first: list[Exception] = []
        try:
            with (
                torch.cuda.stream(here),
                torch.cuda.graph(graph, self._pool, self._side, capture_error_mode="thread_local"),
                _no_garbage_collection(),
            ):
                result = _noting_errors(work, first)
        except RuntimeError as last:
            raise first[0] if first else last  # noqa: B904  the last one has it as its context
        return graph, result


def _noting_errors(work: Replay, errors: list[Exception]) -> torch.Tensor:
    """The result of `work`. An error is added to `errors` too: ending a failed capture raises
    another one, which says only that the capture failed."""
    try:
        return work()
    except Exception as problem:
        errors.append(problem)
        raise


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """A context without garbage collection. In a capture, the end of an object that waits for the
    device, such as pinned memory, would make the capture fail."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
