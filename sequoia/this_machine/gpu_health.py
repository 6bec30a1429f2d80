"""Whether a graphics card runs anything: torch lists some for which this build has no kernels, and
after some errors a card runs nothing more until the program is started again."""

from __future__ import annotations

import logging
from functools import cache

import torch

_log = logging.getLogger(__name__)


def gpu_problem(device: torch.device) -> str:
    """Why `device` runs no kernel, in one line; "" where it runs one, and for a CPU."""
    if device.type != "cuda":
        return ""
    try:
        (torch.ones(1, device=device) + 1).item()
    except torch.OutOfMemoryError:
        return ""  # full, but it works
    except Exception as problem:
        # of several lines, the others give advice to programmers
        return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:200]
    return ""


@cache
def unusable_gpu() -> str:
    """Why the first graphics card, though torch lists it, runs nothing; "" where it does, and where
    there is none. A card that is too old for this build of torch is such a one. Tried once."""
    if not torch.cuda.is_available():
        return ""
    if problem := gpu_problem(torch.device("cuda", 0)):
        _log.warning("the graphics card is not used, as it runs nothing: %s", problem)
    return problem


def free_unused_gpu_memory() -> None:
    """Give memory that torch has reserved but does not use back to the GPUs. It is called where
    work ends, perhaps because the card failed, so it never raises: after such an error torch's own
    call raises the same error again."""
    if not torch.cuda.is_available():
        return
    try:
        torch.cuda.empty_cache()
    except RuntimeError as problem:
        _log.warning("unused graphics memory could not be freed: %s", problem)
