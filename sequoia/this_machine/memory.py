"""Free memory of a device, checked before something large is allocated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import psutil
import torch

from sequoia.errors import OutOfMemory
from sequoia.this_machine import container_memory

# bytes by device
DeviceBytes = Counter[torch.device]

_USUAL_POOL = (0, 0)  # id of the memory pool that does not belong to CUDA graphs
# parts of error messages
_OUT_OF_MEMORY = (
    "can't allocate memory",  # torch on a CPU
    "CUDA error: out of memory",  # CUDA, for memory that torch does not manage
    "CUBLAS_STATUS_ALLOC_FAILED",  # cuBLAS
)
ROOM = 1.1  # memory needed to load a model, divided by the memory of its weights


def free_bytes(device: torch.device) -> int:
    """Bytes that can still be allocated on `device`. On a GPU this includes memory that torch has
    reserved but does not use, except in the memory pools of CUDA graphs."""
    if device.type != "cuda":
        return container_memory.available(psutil.virtual_memory().available)
    return (
        torch.cuda.mem_get_info(device)[0]
        + torch.cuda.memory_reserved(device)
        - torch.cuda.memory_allocated(device)
        - _unused_by_graphs(device)
    )


def total_bytes(device: torch.device) -> int:
    """Bytes of the memory of `device`, free or not."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    return container_memory.most(psutil.virtual_memory().total)


def _unused_by_graphs(device: torch.device) -> int:
    """Free bytes in the memory pools of CUDA graphs. Only the graphs can use them."""
    index = torch.cuda.current_device() if device.index is None else device.index
    return sum(
        segment["total_size"] - segment["allocated_size"]
        for segment in torch.cuda.memory_snapshot()
        if segment["device"] == index
        and tuple(segment.get("segment_pool_id", _USUAL_POOL)) != _USUAL_POOL
    )


def allocated_bytes(device: torch.device) -> int:
    """Bytes of all tensors on a GPU; 0 for a CPU, where torch does not count them."""
    return torch.cuda.memory_allocated(device) if device.type == "cuda" else 0


def require(needed: float, device: torch.device, what: str, advice: str = "") -> None:
    """Raises OutOfMemory if `needed` bytes are more than the free memory of `device`. The message
    starts with `what`, such as "the run needs", and ends with `advice`."""
    if needed > (free := free_bytes(device)):
        raise OutOfMemory(f"{what} about {size(needed)} on {device}; {size(free)} is free{advice}")


def require_possible(needed: float, device: torch.device, together: bool, what: str) -> None:
    """Raises OutOfMemory if `needed` bytes are more than the total memory of `device`. together:
    whether a GPU stands for all GPUs. The message starts with `what`, as in `require`."""
    is_several = together and device.type == "cuda"
    gpus = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    most = sum(map(total_bytes, gpus if is_several else [device]))
    if needed > most:
        kind = "of graphics memory " if device.type == "cuda" else ""
        owner = device if device.type == "cuda" and not together else "this machine"
        raise OutOfMemory(f"{what} about {size(needed)}; {owner} has {size(most)} {kind}in total")


def require_each(needed: Mapping[torch.device, float], what: str, advice: str = "") -> None:
    """`require` for every device. needed: bytes by device."""
    for device, count in needed.items():
        require(count, device, what, advice)


def is_out_of_memory(problem: BaseException) -> bool:
    """Whether `problem` means that Python, torch or CUDA ran out of memory. Some such errors have
    no class of their own, and are recognised by their text."""
    return isinstance(problem, torch.OutOfMemoryError | MemoryError) or any(
        words in str(problem) for words in _OUT_OF_MEMORY
    )


def size(count: float) -> str:
    """A number of bytes in words, in decimal units, as "1.5 GB"."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
