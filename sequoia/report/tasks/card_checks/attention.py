"""Compares the attention kernels that torch chooses on this device with the formula in float64, for
mask sizes that occur with trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch.nn.functional import scaled_dot_product_attention

from sequoia.loading.model_checks import checked_device
from sequoia.models.attention_kernels import without_cudnn_attention
from sequoia.report.tasks.found import Found

COLUMNS = range(1, 131)
ROWS = (1, 2, 7, 64)
KV_HEADS = (1, 2, 4)
_HEADS = 4
_SIZE = 64  # of a head
_ALIGNED = 8  # columns: a mask's rows begin at multiples of 8 elements
# largest error that passes, for values of about 1
_ALLOWED = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 5e-2}


def attention() -> Found:
    """Compare all sizes in each dtype. The check fails if an error exceeds _ALLOWED."""
    device = checked_device("auto")
    torch.manual_seed(0)
    worst = {
        str(dtype).removeprefix("torch."): largest_error(device, dtype) / allowed
        for dtype, allowed in _ALLOWED.items()
    }
    words = ", ".join(f"{name} {value:.0%}" for name, value in worst.items())
    is_right = all(value <= 1 for value in worst.values())
    return Found(f"largest error as a share of the allowed error: {words}", worst, is_right)


def largest_error(
    device: torch.device, dtype: torch.dtype, columns: Sequence[int] = COLUMNS
) -> float:
    """The largest error of any output over all sizes; NaN if any error is NaN."""
    found = [
        _error(device, dtype, rows, count, kv_heads)
        for count in columns
        for rows in ROWS
        for kv_heads in KV_HEADS
    ]
    return float(torch.tensor(found).max())


@torch.inference_mode()
def _error(device: torch.device, dtype: torch.dtype, rows: int, columns: int, kv: int) -> float:
    q, k, v = _inputs(device, dtype, rows, columns, kv)
    mask = _mask(device, dtype, rows, columns)
    with without_cudnn_attention():
        found = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = q.double() @ k.double().transpose(-1, -2) / _SIZE**0.5 + mask.double()
    return float((found.double() - scores.softmax(-1) @ v.double()).abs().max())


def _inputs(
    device: torch.device, dtype: torch.dtype, rows: int, columns: int, kv: int
) -> Iterator[torch.Tensor]:
    """Random queries, keys and values, each (1, heads, length, size). Keys and values have `kv`
    different heads, repeated to _HEADS heads as in `transformers`."""
    yield torch.randn(1, _HEADS, rows, _SIZE, device=device).to(dtype)
    for _ in range(2):
        one = torch.randn(1, kv, columns, _SIZE, device=device).to(dtype)
        repeated = one[:, :, None].expand(1, kv, _HEADS // kv, columns, _SIZE)
        yield repeated.reshape(1, _HEADS, columns, _SIZE)


def _mask(device: torch.device, dtype: torch.dtype, rows: int, columns: int) -> torch.Tensor:
    """A random mask, (1, 1, rows, columns). The first column is never masked, so that every row
    has something to attend to."""
    wide = -(-columns // _ALIGNED) * _ALIGNED
    mask = torch.zeros(1, 1, rows, wide, dtype=dtype, device=device)
    closed = torch.rand(rows, columns, device=device) < 0.5
    closed[:, 0] = False
    return mask[..., :columns].masked_fill_(closed, torch.finfo(dtype).min)
