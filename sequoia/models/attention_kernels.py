"""Which of torch's attention kernels a pass may use. The setting is process-wide, so it is changed
around each pass and then restored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch.backends import cuda


@contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """A context in which torch does not use cuDNN's attention. cuDNN makes a new plan for every
    number of columns, which takes time, and the number of columns differs at almost every step."""
    usual = cuda.cudnn_sdp_enabled()
    cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        cuda.enable_cudnn_sdp(usual)
