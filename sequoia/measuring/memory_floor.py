"""The least time of a pass over one row: reading the weights once, at the speed of the memory."""

from __future__ import annotations

import time

import torch

from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.step_timer import synchronize

_BYTES = 2**28  # far more than fits in a CPU's caches
_TRIES = 8


def floor_seconds(pair: Pair) -> float:
    """Seconds in which the target's weights are read once; measured at the first call. 0 if they
    are not all in the memory of one device."""
    if pair.target.placement:
        return 0.0
    return pair.measured.once(
        "floor", lambda: bytes_read(pair.target) / read_speed(pair.target.device)
    )


def read_speed(device: torch.device) -> float:
    """Bytes per second that `device` reads from its memory, the highest of several tries."""
    numbers = torch.ones(_BYTES // 4, dtype=torch.float32, device=device)
    times = []
    for _ in range(_TRIES):
        synchronize(device)
        start = time.perf_counter()
        numbers.sum()
        synchronize(device)
        times.append(time.perf_counter() - start)
    return _BYTES / min(times)


def bytes_read(model: TreeModel) -> int:
    """Bytes of the weights that a pass over one row reads: all, except an embedding that is not the
    head too, of which it reads a single row."""
    weights = {id(one): one for one in model.hf.parameters()}
    embedding = model.hf.get_input_embeddings().weight
    if embedding is not getattr(model.hf.get_output_embeddings(), "weight", None):
        weights.pop(id(embedding), None)
    return sum(one.numel() * one.itemsize for one in weights.values())
