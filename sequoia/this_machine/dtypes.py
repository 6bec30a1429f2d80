"""The dtypes of models, by name, and those that a device computes with."""

from __future__ import annotations

import platform

import torch

# those that a person may choose
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

# From these major CUDA compute capabilities on, every GPU computes with bfloat16 and float16 in
# hardware. Older GPUs emulate bfloat16 at a tenth of the speed.
_BF16_FROM = 8
_FP16_FROM = 7


def narrowest_dtype(device: torch.device) -> torch.dtype:
    """The narrowest dtype that is fast on `device`. On an NVIDIA GPU the compute capability decides
    between bfloat16, float16 and float32. On an AMD GPU it is bfloat16. On a CPU it is bfloat16 if
    the CPU has products in bfloat16 and oneDNN uses them, else float32."""
    if device.type == "cuda":
        return _narrowest_of_gpu(device)
    # this function does not exist in a build of torch without oneDNN
    supported = getattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", None)
    is_fast = supported and supported() and _has_products()
    return torch.bfloat16 if is_fast else torch.float32


def _has_products() -> bool:
    """Whether the CPU has products in bfloat16. On x86, oneDNN also supports bfloat16 with AVX-512
    alone, where it takes up to four times as long as float32."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return not is_x86 or torch.cpu._is_avx512_bf16_supported()


def usual_dtype(device: torch.device, stored: torch.dtype) -> torch.dtype:
    """The default dtype on `device` for weights whose files have the dtype `stored`. float16
    weights stay float16 on a GPU that computes with 16 bits, because bfloat16 has three fewer
    significant bits."""
    narrowest = narrowest_dtype(device)
    if device.type == "cuda" and stored == torch.float16 and narrowest.itemsize == 2:
        return torch.float16
    return narrowest


def _narrowest_of_gpu(device: torch.device) -> torch.dtype:
    # torch.cuda.is_bf16_supported asks about the current GPU, not about `device`, and by default
    # accepts emulation. Like that function, this one assumes that every AMD GPU supports bfloat16.
    if torch.version.hip:
        return torch.bfloat16
    major = torch.cuda.get_device_capability(device)[0]
    if major >= _BF16_FROM:
        return torch.bfloat16
    return torch.float16 if major >= _FP16_FROM else torch.float32
