"""The dtypes that a device computes with."""

from __future__ import annotations

import torch


def narrowest_dtype(device: torch.device) -> torch.dtype:
    """The narrowest dtype that this device computes with. Narrower ones would have to be
    converted, which takes many times longer."""
    return torch.bfloat16 if _has_bf16(device) else torch.float32


def _has_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    # missing in a build of torch without oneDNN
    supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return bool(supported and supported())
