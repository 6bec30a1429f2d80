"""Tests whether a GPU works. Some GPUs that torch lists do not: this build of torch may contain no
kernels for them. And after some errors, a GPU runs no kernels until the program is restarted."""

from __future__ import annotations

import logging
from functools import cache

import torch

_log = logging.getLogger(__name__)


def gpu_problem(device: torch.device) -> str:
    """Why `device` cannot run a kernel, in one line. "" if it can, if it fails only because its
    memory is full, or if it is not a CUDA device."""
    if device.type != "cuda":
        return ""
    try:
        (torch.ones(1, device=device) + 1).item()
    except torch.OutOfMemoryError:
        return ""  # its memory is full, but it works
    except Exception as problem:
        # only the first line: the others are advice for programmers
        return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:200]
    return ""


@cache
def unusable_gpu() -> str:
    """Why the first GPU that torch lists cannot be used, for instance because it is too old for
    this build of torch. "" if it works, or if there is no GPU. Tested only once."""
    if not torch.cuda.is_available():
        return ""
    if problem := gpu_problem(torch.device("cuda", 0)):
        _log.warning("the graphics card is not used, because it runs no kernel: %s", problem)
    return problem


def free_unused_gpu_memory() -> None:
    """Free GPU memory that torch has reserved but does not use. If a GPU failed earlier, torch
    raises the error of that failure again here. This function only logs it."""
    if not torch.cuda.is_available():
        return
    try:
        torch.cuda.empty_cache()
    except RuntimeError as problem:
        _log.warning("unused graphics memory could not be freed: %s", problem)
