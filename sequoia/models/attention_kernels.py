"""Selects the attention kernels of torch that a pass may use. torch's setting is process-wide, so
it is changed for the duration of a pass and then restored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch.backends import cuda


@contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """A context in which torch does not use cuDNN's attention. cuDNN spends time on a new plan for
    every number of attended tokens, and that number changes in almost every step."""
    usual = cuda.cudnn_sdp_enabled()
    cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        cuda.enable_cudnn_sdp(usual)
