"""The attention kernels that torch chooses agree with the formula in float64, for mask sizes that
occur with trees. All sizes are tried on a GPU, a few on a CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from sequoia.models.tree_forward import without_cudnn_attention

CPU = torch.device("cpu")
_HEADS = 4
_SIZE = 64  # of a head
_ALIGNED = 8  # columns: a mask's rows begin at multiples of 8 elements
# largest error that passes, for values of about 1
_ALLOWED = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 5e-2}


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", _ALLOWED)
def test_attention_on_a_gpu_is_that_of_the_formula(dtype: torch.dtype) -> None:
    assert _largest_error(torch.device("cuda"), dtype, range(1, 131)) <= _ALLOWED[dtype]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_on_a_cpu_is_that_of_the_formula(dtype: torch.dtype) -> None:
    assert _largest_error(CPU, dtype, (1, 33)) <= _ALLOWED[dtype]


def test_attention_that_ignores_the_mask_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_mask(q: Any, k: Any, v: Any, attn_mask: Any) -> Any:
        return (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1) @ v

    monkeypatch.setattr(F, "scaled_dot_product_attention", without_mask)
    assert _largest_error(CPU, torch.float32, (33,)) > 0.1


def _largest_error(device: torch.device, dtype: torch.dtype, columns: Sequence[int]) -> float:
    """The largest error of any output over all sizes; NaN if any error is NaN."""
    torch.manual_seed(0)
    found = [
        _error(device, dtype, rows, count, kv_heads)
        for count in columns
        for rows in (1, 2, 7, 64)
        for kv_heads in (1, 2, 4)
    ]
    return float(torch.tensor(found).max())


@torch.inference_mode()
def _error(device: torch.device, dtype: torch.dtype, rows: int, columns: int, kv: int) -> float:
    q, k, v = _inputs(device, dtype, rows, columns, kv)
    mask = _mask(device, dtype, rows, columns)
    with without_cudnn_attention():
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
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
