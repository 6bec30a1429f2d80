"""A forward recorded once for each size and replayed: on CUDA, launching a model's kernels one by one takes longer than running
them for the few rows of a tree's level. The model's own forward is what is recorded; only its inputs stand still.

A recording reads ids, positions, mask and the place of its new rows from tensors that never move, and attends to all columns up
to a rounded-up reach, those not in use closed by the mask. So one recording serves every prefix within its reach.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from weakref import WeakKeyDictionary

import torch

from .slots import Slots

_log = logging.getLogger(__name__)

Forward = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Slots, bool], torch.Tensor]
Replay = Callable[[], torch.Tensor]  # does the work again and gives the tensor that holds its result
Record = Callable[[Replay], Replay]

STEP = 512  # columns by which reaches differ
MOST_ROWS = 1024  # larger passes keep the device busy by themselves
_WARM_UPS = 3  # libraries choose their kernels and allocate in the first runs, which a recording must not hold


class Graphed:
    """`forward(ids, positions, mask, slots, last_only)` as models.py asks for it. `failed`: why recording was given up, if it
    was; the plain forward then goes on."""

    def __init__(self, forward: Forward, record: Record) -> None:
        self.failed: str | None = None
        self._forward, self._record = forward, record
        self._recordings: WeakKeyDictionary[Slots, dict[tuple[int, int, bool], _Recording]] = WeakKeyDictionary()

    @property
    def name(self) -> str:
        return f"transformers (no CUDA graphs: {self.failed})" if self.failed else "transformers, as CUDA graphs"

    def __call__(self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, slots: Slots, last_only: bool
                 ) -> torch.Tensor:
        """Logits (rows, vocab), or (1, vocab) with `last_only`, that the next call may overwrite."""
        rows = ids.shape[1]
        if self.failed is not None or rows > (2 if last_only else MOST_ROWS):  # a prompt's length comes but once
            return self._forward(ids, positions, mask, slots, last_only)
        recording = self._recording(slots, rows, mask, last_only)
        return recording(ids, positions, mask) if recording else self._forward(ids, positions, mask, slots, last_only)

    def _recording(self, slots: Slots, rows: int, mask: torch.Tensor, last_only: bool) -> _Recording | None:
        known = self._recordings.setdefault(slots, {})
        key = rows, reach_of(mask.shape[-1], slots.capacity), last_only
        if key not in known:
            try:
                known[key] = _Recording(self._forward, self._record, slots, rows, key[1], last_only, mask)
            except RuntimeError as problem:  # what CUDA raises where a model does something that cannot be recorded
                self.failed = " ".join(str(problem).split())[:200]
                _log.warning("a forward could not be recorded, and runs as it is from now on: %s", self.failed)
        return known.get(key)


def reach_of(columns: int, capacity: int) -> int:
    """Columns a recording attends to that serves `columns`."""
    return min(-(-columns // STEP) * STEP, capacity)


class _Recording:
    """One size: `rows` new rows of at most `reach` columns in the store of one run."""

    def __init__(self, forward: Forward, record: Record, slots: Slots, rows: int, reach: int, last_only: bool,
                 like: torch.Tensor) -> None:
        self._slots, self._reach = slots, reach
        self._closed = torch.finfo(like.dtype).min
        self._ids = torch.zeros(1, rows, dtype=torch.long, device=like.device)
        self._positions, self._where = torch.zeros_like(self._ids), torch.arange(rows, device=like.device) + slots.start
        self._mask = like.new_full((1, 1, rows, reach), self._closed)
        self._mask[..., :1] = 0  # a row that sees nothing would be NaN while recording
        with slots.standing(self._where, reach):
            self._replay = record(lambda: forward(self._ids, self._positions, self._mask, slots, last_only))

    def __call__(self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        start, columns = self._slots.start, mask.shape[-1]
        self._ids.copy_(ids)
        self._positions.copy_(positions)
        torch.arange(start, start + len(self._where), out=self._where)
        self._mask[..., :columns].copy_(mask)
        self._mask[..., columns:].fill_(self._closed)
        with self._slots.standing(self._where, self._reach):
            return self._replay()


def on_cuda(work: Replay) -> Replay:
    """`work` as a CUDA graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(_WARM_UPS):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()

    def replay() -> torch.Tensor:
        graph.replay()
        return result

    return replay
