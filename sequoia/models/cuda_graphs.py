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

from sequoia.models.kv_cache import Slots
from sequoia.this_machine.step_timer import current

_log = logging.getLogger(__name__)

Forward = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, Slots, bool], torch.Tensor]
# does the work again and gives the tensor that holds its result
Replay = Callable[[], torch.Tensor]
Record = Callable[[Replay], Replay]
_Size = tuple[int, int, bool]  # rows, reach, last_only

STEP = 512  # columns by which reaches differ
MOST_ROWS = 1024  # larger passes keep the device busy by themselves
# recorded over one run's slots; each holds its logits, and trees that grow have many sizes
MOST_SIZES = 32
# passes of a size that nobody announced before one is recorded: many a size comes but once or twice
EAGER = 2
EAGER_WHEN_FULL = 16  # the same where another size has to go for it
# libraries choose their kernels and allocate in the first runs, which a recording must not hold
_WARM_UPS = 3


class Graphed:
    """`forward(ids, positions, mask, slots, last_only)` as models.py asks for it. `failed`: why
    recording was given up, if it was; the plain forward then goes on. What was recorded over some
    slots goes when they go."""

    def __init__(self, forward: Forward, record: Record) -> None:
        self.failed: str | None = None
        self._forward = forward
        self._record = record
        self._announced = False
        self._recordings: WeakKeyDictionary[Slots, dict[_Size, _Recording]] = WeakKeyDictionary()
        self._passes: WeakKeyDictionary[Slots, Counter[_Size]] = WeakKeyDictionary()
        self._spare: Slots | None = None

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
        slots: Slots,
        last_only: bool,
    ) -> torch.Tensor:
        """Logits (rows, vocab), or (1, vocab) with `last_only`, that the next call may
        overwrite."""
        rows = ids.shape[1]
        if self.failed is not None or rows > (
            2 if last_only else MOST_ROWS
        ):  # a prompt's length comes but once
            return self._forward(ids, positions, mask, slots, last_only)
        recording = self._recording(slots, rows, mask, last_only)
        return (
            recording(ids, positions, mask, slots)
            if recording
            else self._forward(ids, positions, mask, slots, last_only)
        )

    def lend(self, layers: int, capacity: int) -> Slots:
        """Slots for a run of `capacity` rows, a few more so that many runs have as many: those of a
        run that is over, with all that was recorded over them, or new ones."""
        rounded = -(-capacity // STEP) * STEP
        spare = self._spare
        self._spare = None
        if spare is None or (len(spare.slot_layers), spare.capacity) != (layers, rounded):
            return Slots(layers, rounded)
        spare.clear()
        return spare

    def take_back(self, slots: Slots | None) -> None:
        """Keep the slots of a run that is over for the next one, and no others; None lets go of
        them."""
        self._spare = slots

    @contextmanager
    def announced(self) -> Iterator[None]:
        """Within it every size is recorded at once: it will come again."""
        self._announced = True
        try:
            yield
        finally:
            self._announced = False

    def _recording(
        self, slots: Slots, rows: int, mask: torch.Tensor, last_only: bool
    ) -> _Recording | None:
        known = self._recordings.setdefault(slots, {})
        size = (rows, reach_of(mask.shape[-1], slots.capacity), last_only)
        if size in known:
            known[size] = known.pop(size)  # now the one used last
        elif self._due(slots, size, len(known)):
            self._add(known, slots, size, mask)
        return known.get(size)

    def _due(self, slots: Slots, size: _Size, known: int) -> bool:
        """Whether a pass of this size is to be recorded, beside so many that are known."""
        passes = self._passes.setdefault(slots, Counter())
        passes[size] += 1
        due = self._announced or passes[size] > (EAGER if known < MOST_SIZES else EAGER_WHEN_FULL)
        if due:
            del passes[size]  # should the recording go again, counting begins anew
        return due

    def _add(
        self, known: dict[_Size, _Recording], slots: Slots, size: _Size, mask: torch.Tensor
    ) -> None:
        """Record one size more; the one that has not been used for the longest time goes where
        there are too many."""
        try:
            known[size] = _Recording(self._forward, self._record, slots, size, mask)
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


class _Recording:
    """One size over some slots, which are none of its own: they would never be let go of."""

    def __init__(
        self, forward: Forward, record: Record, slots: Slots, size: _Size, like: torch.Tensor
    ) -> None:
        rows, reach, last_only = size
        self._reach = reach
        self._closed = torch.finfo(like.dtype).min
        self._ids = torch.zeros(1, rows, dtype=torch.long, device=like.device)
        self._positions = torch.zeros_like(self._ids)
        self._where = torch.arange(rows, device=like.device) + slots.start
        self._mask = like.new_full((1, 1, rows, reach), self._closed)
        self._mask[..., :1] = 0  # a row that sees nothing would be NaN while recording
        with slots.standing(self._where, reach):
            self._replay = record(
                lambda: forward(self._ids, self._positions, self._mask, slots, last_only)
            )

    def __call__(
        self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, slots: Slots
    ) -> torch.Tensor:
        start = slots.start
        columns = mask.shape[-1]
        self._ids.copy_(ids)
        self._positions.copy_(positions)
        torch.arange(start, start + len(self._where), out=self._where)
        self._mask[..., :columns].copy_(mask)
        self._mask[..., columns:].fill_(self._closed)
        with slots.standing(self._where, self._reach):
            return self._replay()


class OnCuda:
    """Records work as CUDA graphs of one device, which share memory for what lies between their
    inputs and their results: they are replayed one after the other, and a result holds until the
    next replay of any of them."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        with current(device):
            self._pool = torch.cuda.graph_pool_handle()
            self._side = torch.cuda.Stream()
            # A pool ends with its last graph, for good; all of a run's go at once.
            self._keeper = self._recorded(partial(torch.zeros, 1, device=device))

    def __call__(self, work: Replay) -> Replay:
        with current(self._device):
            graph, result = self._recorded(work)

        def replay() -> torch.Tensor:
            with current(self._device):
                graph.replay()
            return result

        return replay

    def _recorded(self, work: Replay) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
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
