"""Free memory of a device, checked before something large is allocated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil
import torch

from sequoia.errors import OutOfMemory
from sequoia.validate_input import and_list

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
        return free_in_container(psutil.virtual_memory().available)
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
    return most_in_container(psutil.virtual_memory().total)


def _unused_by_graphs(device: torch.device) -> int:
    """Free bytes in the memory pools of CUDA graphs. Only the graphs can use them."""
    index = torch.cuda.current_device() if device.index is None else device.index
    return sum(
        segment["total_size"] - segment["allocated_size"]
        for segment in torch.cuda.memory_snapshot()
        if segment["device"] == index
        and tuple(segment.get("segment_pool_id", _USUAL_POOL)) != _USUAL_POOL
    )


def require(needed: float, device: torch.device, what: str, advice: str = "") -> None:
    """Raises OutOfMemory if `needed` bytes are more than the free memory of `device`. The message
    starts with `what`, such as "the run needs", and ends with `advice`."""
    if needed > (free := free_bytes(device)):
        raise OutOfMemory(f"{what} about {size(needed)} on {device}; {size(free)} is free{advice}")


def require_possible(needed: float, devices: Sequence[torch.device], what: str) -> None:
    """Raises OutOfMemory if `needed` bytes are more than the total memory of `devices`. The message
    starts with `what`, as in `require`."""
    most = sum(map(total_bytes, devices))
    if needed > most:
        names = and_list(sorted(map(str, devices)))
        raise OutOfMemory(f"{what} about {size(needed)}; the memory of {names} is {size(most)}")


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


# -- limits of a container -------------------------------------------------------------------------


GROUPS = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")


def most_in_container(total: int) -> int:
    """The most bytes that this program can use, on a machine with `total` bytes of memory."""
    return min([total, *(limit for limit, _ in _limits())])


def free_in_container(free: int) -> int:
    """The bytes that this program can still allocate, on a machine with `free` bytes free."""
    return max(0, min([free, *(limit - used for limit, used in _limits())]))


def _limits() -> Iterator[tuple[int, int]]:
    """Limit and use, in bytes, of each control group that contains the program and has a limit.
    Cached files that the system frees when necessary are not counted as used."""
    for folder in _folders():
        with suppress(OSError, ValueError):  # there is no such file, or the limit is "max"
            limit, used = (
                int((folder / name).read_text("ascii")) for name in ("memory.max", "memory.current")
            )
            yield limit, max(0, used - _file_cache(folder))


def _file_cache(folder: Path) -> int:
    lines = (folder / "memory.stat").read_text("ascii").splitlines()
    rows = dict(line.split(maxsplit=1) for line in lines)
    return int(rows.get("inactive_file", 0))


def _folders() -> Iterator[Path]:
    """The folders of the program's control group and of all groups that contain it. The topmost
    folder is included because, inside a container, it is often the container's own group, whatever
    path the file OWN_GROUP gives."""
    try:
        lines = OWN_GROUP.read_text("utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        if line.startswith("0::"):  # version 2 of control groups
            folder = GROUPS / line[3:].lstrip("/")
            yield folder
            yield from (parent for parent in folder.parents if parent.is_relative_to(GROUPS))
