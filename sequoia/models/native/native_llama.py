"""A pass of a Llama-like model on a CPU as one native call (see llama_pass.cpp).

FastLlama makes more than a hundred calls of torch for each pass, which take half of the time of a
small model. Here one call computes the whole pass. A node of a tree gets, bit for bit, the same
logits as the same text in plain decoding."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import functional as F

from sequoia.models.native.library import native_library
from sequoia.models.packed_llama import (
    PackedLlama,
    Rotations,
    head_norms,
    joined,
    pair_order,
    runs_packed,
)

_MULTIPLE = 16  # hidden and intermediate sizes are multiples of this
_HEAD_SIZES = (16, 32, 64, 80, 96, 128)
_ZERO = 64  # the byte of a rounded weight that is 0; bytes have seven bits

_POINTER = ctypes.c_void_p
_INT = ctypes.c_int64


class _Struct(ctypes.Structure):
    """A C struct whose pointers are given as tensors or arrays. It keeps these alive."""

    def __init__(self, **values: Any) -> None:
        self.values = values
        super().__init__(**{name: _field(value) for name, value in values.items()})


def _field(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.data_ptr()
    return ctypes.addressof(value) if isinstance(value, ctypes.Array) else value


class _Layer(_Struct):
    """The packed weights of a layer, and those of its norms, in float32."""

    _fields_ = [
        *((name, _POINTER) for name in ("qkv", "qkv_scales", "out", "out_scales")),
        *((name, _POINTER) for name in ("gate_up", "gate_up_scales", "down", "down_scales")),
        *((name, _POINTER) for name in ("qkv_bias", "before", "after", "head_norm")),
    ]


class _Model(_Struct):
    """outputs: the number of tokens that the head has logits for. inner: the outputs of gate."""

    _fields_ = [
        *((name, _POINTER) for name in ("layers", "head", "head_scales")),
        *((name, _INT) for name in ("is_bf16", "is_rounded", "layer_count", "hidden")),
        *((name, _INT) for name in ("heads", "kv_heads", "dim", "inner", "outputs")),
        ("eps", ctypes.c_float),
        ("scale", ctypes.c_float),
    ]


class _Pass(_Struct):
    """end: the cache slots in use after the pass. capacity: all slots. norm: the weights of the
    final norm."""

    _fields_ = [
        *((name, _POINTER) for name in ("x", "logits", "cache", "rotations", "mask", "norm")),
        *((name, _INT) for name in ("rows", "end", "capacity", "mask_stride", "last_only")),
        ("threads", _INT),
    ]


def native_forward(hf: Any) -> NativeLlama | None:
    """The native forward of `hf`, or None if `hf` is of a kind that it does not support. Raises
    NoLibrary."""
    return NativeLlama(hf, hf.dtype, native_library()) if _is_supported(hf) else None


def _is_supported(hf: Any) -> bool:
    if not runs_packed(hf) or hasattr(hf, "rounding"):
        return False
    layer = hf.model.layers[0]
    mlp = layer.mlp
    without_bias = (layer.self_attn.o_proj, mlp.gate_proj, mlp.down_proj, hf.lm_head)
    return (
        layer.self_attn.head_dim in _HEAD_SIZES
        and hf.config.hidden_size % _MULTIPLE == 0
        and hf.config.intermediate_size % _MULTIPLE == 0
        and all(linear.bias is None for linear in without_bias)
    )


class NativeLlama(PackedLlama):
    """The native forward. Its logits are float32. Keys and values have the dtype of the weights:
    after a long text, reading them takes as long as reading the weights."""

    name = "native"

    def __init__(
        self, hf: Any, dtype: torch.dtype, library: ctypes.CDLL, is_rounded: bool = False
    ) -> None:
        super().__init__(hf, cache_dtype=dtype)
        self.is_rounded = is_rounded
        self._dtype = dtype
        self._library = library
        self._lane = library.lane_size()  # outputs that are computed side by side
        self._norm = hf.model.norm.weight.float()
        # without a part for values, which the native call does not rotate
        self._rotations = Rotations(hf.model.rotary_emb, 1, 0, self._dim)
        self._spread = getattr(hf.lm_head, "spread", None)
        layers = [self._layer(layer) for layer in hf.model.layers]
        self._layers = (_Layer * len(layers))(*layers)
        self._kept = layers  # the array has only their addresses
        self._model = _Model(
            layers=self._layers,
            **self._matrix("head", hf.lm_head.weight),
            is_bf16=dtype == torch.bfloat16,
            is_rounded=is_rounded,
            layer_count=len(layers),
            hidden=hf.config.hidden_size,
            heads=self._heads,
            kv_heads=self._kv_heads,
            dim=self._dim,
            inner=hf.config.intermediate_size,
            outputs=len(hf.lm_head.weight),
            eps=hf.config.rms_norm_eps,
            scale=hf.model.layers[0].self_attn.scaling,
        )

    def again(self, hf: Any, dtype: torch.dtype) -> NativeLlama:
        return NativeLlama(hf, dtype, self._library)

    def rounded(self, hf: Any) -> NativeLlama:
        """The same forward with weights rounded to seven bits, for a draft: a pass of a few rows
        takes as long as reading the weights, and verification is exact for any draft."""
        return NativeLlama(hf, self._dtype, self._library, is_rounded=True)

    def _logits(
        self,
        x: torch.Tensor,
        rotation: torch.Tensor,
        mask: torch.Tensor,
        cached: torch.Tensor,
        last_only: bool,
    ) -> torch.Tensor:
        rows, end = mask.shape[2:]
        if (rows, end) != (len(x), cached.shape[4]):
            raise IndexError(
                f"a mask of {rows} rows and {end} columns for {len(x)} tokens and "
                f"{cached.shape[4]} cache slots"
            )
        logits = torch.empty(1 if last_only else rows, self._model.outputs, dtype=torch.float32)
        one = _Pass(
            x=x.contiguous(),
            cache=cached,
            logits=logits,
            rotations=rotation,
            mask=mask,
            norm=self._norm,
            rows=rows,
            end=end,
            capacity=cached.stride(3) // self._dim,
            mask_stride=mask.stride(2),
            last_only=last_only,
            threads=pass_threads(),
        )
        self._library.llama_pass(ctypes.byref(self._model), ctypes.byref(one))
        return logits if self._spread is None else self._spread(logits)

    def _layer(self, layer: Any) -> _Layer:
        attention = layer.self_attn
        mlp = layer.mlp
        weight, bias = joined(
            [attention.q_proj, attention.k_proj, attention.v_proj],
            pair_order(self._heads, self._kv_heads, self._dim),
        )
        # a block of gate, the same of up, the next of gate, ...
        gate_up = torch.stack(
            [self._blocks(mlp.gate_proj.weight), self._blocks(mlp.up_proj.weight)], 1
        )
        norms = None
        if hasattr(attention, "q_norm"):
            norms = head_norms(attention, self._heads, self._kv_heads)
        return _Layer(
            **self._matrix("qkv", weight),
            **self._matrix("out", attention.o_proj.weight),
            **self._matrix("gate_up", gate_up.flatten(0, 2)),
            **self._matrix("down", mlp.down_proj.weight),
            qkv_bias=_float(bias),
            before=_float(layer.input_layernorm.weight),
            after=_float(layer.post_attention_layernorm.weight),
            head_norm=_float(norms),
        )

    def _matrix(self, name: str, weight: torch.Tensor) -> dict[str, torch.Tensor | None]:
        """The fields of a matrix (outputs, inputs). Outputs of the last block that do not exist
        are 0."""
        weight = F.pad(weight, (0, 0, 0, -len(weight) % self._lane))
        if not self.is_rounded:
            return {name: self._packed(weight.to(self._dtype)), f"{name}_scales": None}
        scales = weight.float().abs().amax(1).clamp(min=1e-12) / (_ZERO - 1)
        rounded = (weight / scales[:, None]).round() + _ZERO
        return {name: self._packed(rounded.byte()), f"{name}_scales": scales}

    def _packed(self, weight: torch.Tensor) -> torch.Tensor:
        """Weights (outputs, inputs) as (blocks, inputs, lane); all but those in float32 as (blocks,
        inputs / 2, lane, 2)."""
        adjacent = 1 if weight.dtype == torch.float32 else 2
        return self._blocks(weight).unflatten(2, (-1, adjacent)).transpose(1, 2).contiguous()

    def _blocks(self, weight: torch.Tensor) -> torch.Tensor:
        """Weights (outputs, inputs) as (blocks, lane, inputs)."""
        return weight.unflatten(0, (-1, self._lane))


def _float(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor.float().contiguous()


# -- threads ---------------------------------------------------------------------------------------

# After each operation in parallel, torch's OpenMP threads spin for a while, and take the cores that
# the threads of the next native pass need: a step of ten nodes then takes a third longer on two
# cores. With a large vocabulary, torch's work outside the models is too much for one thread.
_LARGE_VOCAB = 2**16
_of_passes = threading.local()


def pass_threads() -> int:
    """The threads of a native pass, called from this thread."""
    return getattr(_of_passes, "count", None) or torch.get_num_threads()


@contextmanager
def one_torch_thread(models: Iterable[Any]) -> Iterator[None]:
    """A context in which torch uses one thread, called from this thread, and native passes as many
    as torch did before. Without effect if a model has passes that are not native, or its vocabulary
    is large."""
    before = torch.get_num_threads()
    if before == 1 or not all(map(_is_small_and_native, models)):
        yield
        return
    _of_passes.count = before
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _of_passes.count = None


def _is_small_and_native(model: Any) -> bool:
    forward = getattr(model, "forward_name", NativeLlama.name)  # a lookup has no passes
    return forward == NativeLlama.name and model.vocab <= _LARGE_VOCAB
