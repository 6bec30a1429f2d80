"""The machine: its name, its memory, and how fast it computes and copies."""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from sequoia.bench.random_weights import copy_bandwidth
from sequoia.loading.model_checks import checked_device
from sequoia.models.describe import describe, versions
from sequoia.report.tasks.found import Found
from sequoia.this_machine.dtypes import narrowest_dtype
from sequoia.this_machine.memory import free_bytes
from sequoia.this_machine.step_timer import synchronize

_CPU = torch.device("cpu")
# sizes of the matrices that are multiplied to see how fast the machine computes
_WIDTH = 2048
_ROWS = 256
_LINK_BYTES = 2**28
_TIMES = 10


def machine() -> Found:
    """The fields of `sequoia.report.machine.Machine` except its slowness."""
    device = checked_device("auto")
    figures = {
        "name": describe(device),
        "card": device.type == "cuda",
        "free_bytes": free_bytes(device),
        "host_free_bytes": free_bytes(_CPU),
        "operations_per_second": operations_per_second(device),
        "bytes_per_second": copy_bandwidth(device),
    }
    return Found(figures["name"], figures)


def operations_per_second(device: torch.device) -> float:
    """Additions and multiplications per second in a matrix product, in the device's narrowest fast
    dtype."""
    dtype = narrowest_dtype(device)
    left = torch.ones(_ROWS, _WIDTH, dtype=dtype, device=device)
    right = torch.ones(_WIDTH, _WIDTH, dtype=dtype, device=device)
    seconds = _median_seconds(lambda: left @ right, device)
    return 2 * _ROWS * _WIDTH * _WIDTH / seconds


def _median_seconds(work: Callable[[], Any], device: torch.device) -> float:
    found = []
    for _ in range(_TIMES):
        synchronize(device)
        start = time.perf_counter()
        work()
        synchronize(device)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def environment() -> Found:
    """Versions, cores, free memory, C compiler, and any graphics card."""
    device = checked_device("auto")
    figures: dict[str, Any] = {
        "machine": describe(device),
        "system": f"{platform.system()} {platform.release()}",
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cpu capability": torch.backends.cpu.get_cpu_capability(),
        "dtype": str(narrowest_dtype(device)).removeprefix("torch."),
        "free bytes": free_bytes(device),
        "host bytes free": free_bytes(_CPU),
        "versions": dict(versions()),
        "triton": _version_of("triton"),
        "C compiler": shutil.which("gcc") or shutil.which("cc") or "none",
        "CUDA of torch": torch.version.cuda or "none",
    }
    figures |= _card(device) if device.type == "cuda" else {}
    text = f"{figures['machine']}, torch {torch.__version__}, {figures['dtype']}"
    return Found(text, figures)


def _card(device: torch.device) -> dict[str, Any]:
    found = torch.cuda.get_device_properties(device)
    return {
        "cards": torch.cuda.device_count(),
        "capability": f"{found.major}.{found.minor}",
        "card bytes": found.total_memory,
        "processors": found.multi_processor_count,
        "built for": torch.cuda.get_arch_list(),
        "bfloat16": torch.cuda.is_bf16_supported(including_emulation=False),
        "bfloat16, emulated too": torch.cuda.is_bf16_supported(),
        "one and one": float((torch.ones(1, device=device) + 1).item()),
        "driver": _driver(),
    }


def _driver() -> str:
    """The version of NVIDIA's driver from nvidia-smi, or else the first line of the driver's file
    in /proc; "unknown" without either."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=True
        ).stdout.split("\n")[0]
    with suppress(OSError):
        return Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").split("\n")[0]
    return "unknown"


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def bandwidth() -> Found:
    """Bytes per second of a copy in host memory, counting both bytes read and bytes written. With a
    graphics card, also the same for a copy in the card's memory, and the bytes per second that the
    link to the card carries in each direction."""
    device = checked_device("auto")
    figures = {"host memory": copy_bandwidth(_CPU)}
    if device.type == "cuda":
        figures["card memory"] = copy_bandwidth(device)
        for pinned in (True, False):
            figures |= _link(device, pinned)
    rates = (f"{name} {value / 1e9:.1f} GB/s" for name, value in figures.items())
    return Found(", ".join(rates), figures)


def _link(device: torch.device, pinned: bool) -> dict[str, float]:
    """Bytes per second in each direction of the link, with pinned or ordinary host memory."""
    host = torch.empty(_LINK_BYTES, dtype=torch.uint8, pin_memory=pinned).fill_(1)
    card = torch.empty(_LINK_BYTES, dtype=torch.uint8, device=device)
    kind = "pinned" if pinned else "ordinary"
    to = _median_seconds(lambda: card.copy_(host, non_blocking=pinned), device)
    back = _median_seconds(lambda: host.copy_(card, non_blocking=pinned), device)
    return {
        f"to the card, {kind}": _LINK_BYTES / to,
        f"from the card, {kind}": _LINK_BYTES / back,
    }
