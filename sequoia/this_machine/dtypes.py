"""The dtypes that a device computes with."""

from __future__ import annotations

import torch

# Major CUDA compute capability from which every GPU computes with the dtype in hardware. Older GPUs
# emulate bfloat16 at a tenth of the speed.
_BF16_FROM = 8
_FP16_FROM = 7


def narrowest_dtype(device: torch.device) -> torch.dtype:
    """The narrowest of bfloat16, float16 and float32 that is fast on `device`. A GPU must compute
    with the dtype in hardware. For a CPU it is bfloat16 if oneDNN supports that, else float32."""
    if device.type == "cuda":
        return _narrowest_of_gpu(device)
    # this function does not exist in a build of torch without oneDNN
    supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    return torch.bfloat16 if supported and supported() else torch.float32


def usual_dtype(device: torch.device, stored: torch.dtype) -> torch.dtype:
    """The default dtype on `device` for weights whose files have the dtype `stored`. float16 files
    stay float16 on a GPU that computes with 16 bits, because bfloat16 has three significant bits
    fewer."""
    narrowest = narrowest_dtype(device)
    if device.type == "cuda" and stored == torch.float16 and narrowest.itemsize == 2:
        return torch.float16
    return narrowest


def _narrowest_of_gpu(device: torch.device) -> torch.dtype:
    # torch's own test asks about the current GPU instead of `device`, and accepts emulation
    if torch.version.hip:
        return torch.bfloat16
    major = torch.cuda.get_device_capability(device)[0]
    if major >= _BF16_FROM:
        return torch.bfloat16
    return torch.float16 if major >= _FP16_FROM else torch.float32
