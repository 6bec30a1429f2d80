"""Three Triton kernels: everything in a Llama-like layer but its matrix products and its attention.

They compute in float32 and round each result once. `transformers` rounds after every operation.
"""

# A kernel is written in Triton's language, not Python (see decoding/cuda/verify_kernel.py).
# pyright: reportCallIssue=false, reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

import torch
import triton
import triton.language as tl

_BLOCK = 1024  # outputs of gate that one program multiplies with those of up
_WARP = 512  # numbers of a norm that one warp processes
_MOST_WARPS = 8


def add_norm(
    x: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor, eps: float, out: torch.Tensor
) -> None:
    """Add `delta` to the residual stream `x`, then write x * weight / sqrt(mean(x * x) + eps) to
    `out`. x, delta, out: (rows, hidden), x in float32. weight: (hidden,)."""
    rows, hidden = x.shape
    block = triton.next_power_of_2(hidden)
    _add_norm[(rows,)](
        x,
        delta,
        weight,
        out,
        eps,
        hidden,
        block=block,
        num_warps=min(_MOST_WARPS, max(1, block // _WARP)),
    )


@triton.jit
def _add_norm(x, delta, weight, out, eps, hidden, block: tl.constexpr):
    at = tl.arange(0, block)
    inside = at < hidden
    place = tl.program_id(0).to(tl.int64) * hidden + at
    value = tl.load(x + place, mask=inside, other=0.0)
    value += tl.load(delta + place, mask=inside, other=0.0).to(tl.float32)
    tl.store(x + place, value, mask=inside)
    scale = tl.rsqrt(tl.sum(value * value, 0) / hidden + eps)
    normed = value * scale * tl.load(weight + at, mask=inside, other=0.0)
    tl.store(out + place, normed, mask=inside)


def rotate(
    heads: torch.Tensor,
    rotation: tuple[torch.Tensor, torch.Tensor],
    norms: torch.Tensor | None,
    eps: float,
    slots: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
) -> None:
    """Normalise queries and keys, if the model has norms for heads, and apply the rotary positions.
    Write the queries to `queries`, and keys and values to `slots` of the cache.

    heads: (rows, heads + 2 * kv_heads, head_dim), queries, keys and values. rotation: cosines and
    sines (rows, head_dim), float32, both halves alike. norms: None, or the weights (2, head_dim)
    for queries and for keys, float32. slots: (rows,). queries: (heads, rows, head_dim). keys,
    values: those of all slots, (1, kv_heads, capacity, head_dim), contiguous.
    """
    rows, count, dim = heads.shape
    kv_heads = keys.shape[1]
    _rotate[(rows, count)](
        heads,
        *rotation,
        heads if norms is None else norms,
        slots,
        queries,
        keys,
        values,
        rows,
        keys.stride(1),
        eps,
        heads=count - 2 * kv_heads,
        kv_heads=kv_heads,
        half=dim // 2,
        has_norms=norms is not None,
        block=triton.next_power_of_2(dim // 2),
        num_warps=1,
    )


@triton.jit(do_not_specialize=["rows", "stride"])  # else compiled again for some of their values
def _rotate(
    source,
    cos,
    sin,
    norms,
    slots,
    queries,
    keys,
    values,
    rows,
    stride,
    eps,
    heads: tl.constexpr,
    kv_heads: tl.constexpr,
    half: tl.constexpr,
    has_norms: tl.constexpr,
    block: tl.constexpr,
):
    """One head of one row. The numbers at `at` and `half` + `at` of a head are rotated together.
    stride: between the keys of two heads."""
    row = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    at = tl.arange(0, block)
    inside = at < half
    start = source + (row * (heads + 2 * kv_heads) + head) * 2 * half
    low = tl.load(start + at, mask=inside, other=0.0).to(tl.float32)
    high = tl.load(start + half + at, mask=inside, other=0.0).to(tl.float32)
    if head < heads + kv_heads:
        if has_norms:
            weight = norms + (head >= heads).to(tl.int32) * 2 * half
            scale = tl.rsqrt(tl.sum(low * low + high * high, 0) / (2 * half) + eps)
            low = low * scale * tl.load(weight + at, mask=inside, other=0.0)
            high = high * scale * tl.load(weight + half + at, mask=inside, other=0.0)
        c = tl.load(cos + row * 2 * half + at, mask=inside, other=0.0)
        s = tl.load(sin + row * 2 * half + at, mask=inside, other=0.0)
        unrotated = low
        low = low * c - high * s
        high = high * c + unrotated * s
    slot = tl.load(slots + row) * 2 * half
    if head < heads:
        query = queries + (head * rows + row) * 2 * half
        tl.store(query + at, low, mask=inside)
        tl.store(query + half + at, high, mask=inside)
    elif head < heads + kv_heads:
        key = keys + (head - heads) * stride + slot
        tl.store(key + at, low, mask=inside)
        tl.store(key + half + at, high, mask=inside)
    else:
        value = values + (head - heads - kv_heads) * stride + slot
        tl.store(value + at, low, mask=inside)
        tl.store(value + half + at, high, mask=inside)


def silu_times(gate_up: torch.Tensor, out: torch.Tensor) -> None:
    """Write silu(gate) * up to `out` (rows, inner). gate_up: (rows, 2 * inner), gate first."""
    rows, inner = out.shape
    _silu_times[(rows, triton.cdiv(inner, _BLOCK))](gate_up, out, inner, block=_BLOCK, num_warps=4)


@triton.jit
def _silu_times(gate_up, out, inner, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * block + tl.arange(0, block)
    inside = at < inner
    start = gate_up + row * 2 * inner
    gate = tl.load(start + at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(start + inner + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * inner + at, gate / (1 + tl.exp(-gate)) * up, mask=inside)
