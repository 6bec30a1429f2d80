"""Describes the machine, and a pair on it, in words."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path

import torch

from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

_LIBRARIES = ("torch", "transformers", "accelerate")


def describe(device: torch.device) -> str:
    """The device in words, such as "cpu (2 threads, AMD EPYC)"."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"cpu ({threads} thread{'' if threads == 1 else 's'}, {_cpu_name()})"


def place_of(model: TreeModel) -> str:
    """The device `model` runs on, in words. If some weights are elsewhere, also says where."""
    return ", ".join(filter(None, (describe(model.device), model.placement)))


def _cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def dtype_name(pair: Pair) -> str:
    """The dtypes of target and draft in words: "bfloat16, draft int8", or "bfloat16" if they are
    equal."""
    names = [model.numbers for model in (pair.target, pair.draft)]
    return names[0] if names[0] == names[1] else f"{names[0]}, draft {names[1]}"


def versions() -> tuple[tuple[str, str], ...]:
    """Name and version of Python and of the libraries that affect the speed of a pass."""
    return (
        ("python", platform.python_version()),
        *((name, importlib.metadata.version(name)) for name in _LIBRARIES),
    )
