"""Which of torch's attention kernels a pass may take. The choice is the process's, so it is made
around each pass and then taken back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch.backends import cuda


@contextmanager
def without_cudnn_attention() -> Iterator[None]:
    """Within it torch leaves cuDNN's attention aside, which would plan anew for every number of
    columns, a moment of its own; a step's columns are seldom as many as the last one's."""
    usual = cuda.cudnn_sdp_enabled()
    cuda.enable_cudnn_sdp(False)
    try:
        yield
    finally:
        cuda.enable_cudnn_sdp(usual)
