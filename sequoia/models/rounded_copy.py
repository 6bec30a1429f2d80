"""A copy of a model with its linear layers rounded to int8 or int4, for use as the draft of the
model itself. It needs no second model, and its distributions are close to the target's.
Verification is exact for any draft distribution, so rounding a draft is allowed; rounding a target
would change the output.

int8 has one scale for each output. int4 has a scale and an offset for each group of GROUP inputs.
Only the weights are rounded. The products are torch's own."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from accelerate.hooks import remove_hook_from_module
from torch import nn
from torch.nn import functional as F
from transformers import AutoModelForCausalLM
from transformers.pytorch_utils import Conv1D

from sequoia.errors import BadModel
from sequoia.models.memory_needs import PACKED_UP_TO
from sequoia.this_machine.dtypes import narrowest_dtype

# On a CPU, in products with up to this many rows, reading the weights takes longest, and int8
# halves that time. In larger products arithmetic takes longest.
FEW_ROWS = 8
INT8_STEP = 16  # torch's int8 kernel reads this many inputs at a time
GROUP = 32  # inputs that share a scale in int4
_INT4_OUTPUTS = 16  # torch's int4 kernel computes this many outputs at a time
_BLOCK = 4096  # outputs rounded at a time, as a rounded head may be too large for a float32 copy


class RoundedWeight(ABC):
    """A rounded weight (outputs, inputs). bytes_each: bytes of memory for one of its numbers, with
    its share of the scales."""

    bytes_each: float

    @abstractmethod
    def __init__(self, weight: torch.Tensor) -> None:
        """Rounds `weight` (outputs, inputs), of any floating-point dtype, where it is."""

    @abstractmethod
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """The product (rows, outputs) with x (rows, inputs)."""

    @abstractmethod
    def as_float(self) -> torch.Tensor:
        """The rounded weight (outputs, inputs), as floating-point numbers."""


class Int8Weight(RoundedWeight):
    """Inputs are padded to a multiple of INT8_STEP. For other lengths, the AVX-512 kernel of torch
    2.13 would read past the end of the rows, and return garbage or crash. Any number of rows and
    outputs is safe."""

    bytes_each = 1.0

    def __init__(self, weight: torch.Tensor) -> None:
        self._inputs = weight.shape[1]
        self._padding = (0, -self._inputs % INT8_STEP)
        blocks = [_int8(block) for block in weight.split(_BLOCK)]
        self._values = F.pad(torch.cat([values for values, _ in blocks]), self._padding)
        self._scales = torch.cat([scales for _, scales in blocks])  # (outputs,), bfloat16

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.device.type == "cpu" and len(x) <= FEW_ROWS:
            narrow = F.pad(x.to(self._scales.dtype), self._padding)
            return torch._weight_int8pack_mm(narrow, self._values, self._scales).to(x.dtype)
        dtype = narrowest_dtype(x.device) if x.device.type == "cpu" else x.dtype
        values = self._values[:, : self._inputs].to(dtype)
        scales = self._scales.to(dtype)
        if dtype == torch.float16:  # the sums of larger products could overflow
            return F.linear(x, values * scales[:, None])
        return (F.linear(x.to(dtype), values) * scales).to(x.dtype)

    def as_float(self) -> torch.Tensor:
        return self._values[:, : self._inputs] * self._scales[:, None].float()


def _int8(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Values (outputs, inputs) and scales (outputs,) of `weight`."""
    weight = weight.float()
    scales = (weight.abs().amax(1).clamp(min=1e-12) / 127).bfloat16()
    values = (weight / scales[:, None].float()).round().clamp(-127, 127)
    return values.to(torch.int8), scales


class Int4Weight(RoundedWeight):
    """Inputs are padded to a multiple of GROUP, outputs to a multiple of _INT4_OUTPUTS. Products
    are computed in bfloat16."""

    bytes_each = 0.5 + 4 / GROUP

    def __init__(self, weight: torch.Tensor) -> None:
        self._outputs, self._inputs = weight.shape
        self._padding = (0, -self._inputs % GROUP)
        weight = F.pad(weight, (*self._padding, 0, -self._outputs % _INT4_OUTPUTS))
        blocks = [_int4(block) for block in weight.split(_BLOCK)]
        self._packed = _packed_int4(torch.cat([values for values, _ in blocks]))
        # (groups, outputs, 2), bfloat16: scales and offsets
        self._scales = torch.cat([scales for _, scales in blocks], 1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        multiply = (
            torch._weight_int4pack_mm_for_cpu
            if x.device.type == "cpu"
            else torch._weight_int4pack_mm
        )
        narrow = F.pad(x.bfloat16(), self._padding)
        product = multiply(narrow, self._packed, GROUP, self._scales)
        return product[:, : self._outputs].to(x.dtype)

    def as_float(self) -> torch.Tensor:
        scales, offsets = self._scales.float().transpose(0, 1)[: self._outputs].split(1, 2)
        one_each = torch.eye(self._inputs, device=self._scales.device)
        groups = F.pad(self(one_each).T, self._padding).unflatten(1, (-1, GROUP))
        # the product is rounded to bfloat16, but near enough to tell the values
        floats = ((groups - offsets) / scales).round() * scales + offsets
        return floats.flatten(1)[:, : self._inputs]


def _int4(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Values from 0 to 15 (outputs, inputs), and scales and offsets (groups, outputs, 2), of
    `weight`. A value of 8 means the offset."""
    groups = weight.float().unflatten(1, (-1, GROUP))
    low, high = groups.aminmax(dim=2, keepdim=True)
    scales = ((high - low) / 15).clamp(min=1e-12).bfloat16()
    offsets = (low + 8 * scales.float()).bfloat16()
    values = ((groups - offsets.float()) / scales.float()).round() + 8
    both = torch.cat((scales, offsets), 2).transpose(0, 1).contiguous()
    return values.clamp(0, 15).to(torch.uint8).flatten(1), both


def _packed_int4(values: torch.Tensor) -> torch.Tensor:
    """`values` (outputs, inputs), from 0 to 15, in the layout of the device's kernel."""
    if values.device.type == "cpu":
        return torch._convert_weight_to_int4pack_for_cpu(values.int(), 1)
    pairs = values[:, ::2] << 4 | values[:, 1::2]
    return torch._convert_weight_to_int4pack(pairs.contiguous(), GROUP // 16)


ROUNDED: dict[str, type[RoundedWeight]] = {"int8": Int8Weight, "int4": Int4Weight}


class RoundedLinear(nn.Module):
    """A linear layer with its weight rounded to `numbers`, a key of ROUNDED, on the device of
    `weight` (outputs, inputs)."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, numbers: str) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.numbers = numbers
        self.bias = bias
        self.round(weight)

    def round(self, weight: torch.Tensor) -> None:
        """Replace the weight by `weight`, rounded."""
        self.rounded = ROUNDED[self.numbers](weight)

    @property
    def weight(self) -> torch.Tensor:
        """The rounded weight as floating-point numbers, computed anew each time."""
        return self.rounded.as_float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., outputs) from x (..., inputs)."""
        product = self.rounded(x.reshape(-1, self.in_features)).view(*x.shape[:-1], -1)
        return product if self.bias is None else product + self.bias


_LINEAR = (nn.Linear, Conv1D)
_LEAST = 0.5  # share of a model's weights that must be in linear layers


@dataclass(frozen=True)
class Rounding:
    """How a copy was rounded. numbers: a key of ROUNDED. parameters: the number of the original's
    parameters."""

    numbers: str
    parameters: int


def rounded_copy(hf: Any, numbers: str, device: torch.device, shared: bool) -> Any:
    """A copy of the model `hf` on `device`, with its linear layers rounded to `numbers`, one layer
    after the other. It must be made before `hf` is streamed.

    shared: whether the copy shares all other weights with `hf`, which must be on `device` then.
    Otherwise it has copies of them. The copy's attribute `rounding` is a Rounding.
    """
    mine = {} if shared else {id(one): one for one in (*_others(hf), *hf.buffers())}
    memo = {id(one): one for one in (*hf.parameters(), *hf.buffers())}
    memo |= {key: _moved(one, device) for key, one in mine.items()}
    copied: Any = remove_hook_from_module(copy.deepcopy(hf, memo), recurse=True)
    modules: list[Any] = [*copied.modules()]
    for module in modules:
        for name, child in module.named_children():
            if type(child) in _LINEAR:
                weight = child.weight.detach().to(device)
                weight = weight.T if isinstance(child, Conv1D) else weight
                setattr(module, name, RoundedLinear(weight, child.bias, numbers))
    copied.rounding = Rounding(numbers, hf.num_parameters())
    return copied


def _moved(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    made = tensor.detach().to(device, copy=True)
    is_parameter = isinstance(tensor, nn.Parameter)
    return nn.Parameter(made, requires_grad=False) if is_parameter else made


def _others(hf: Any) -> list[nn.Parameter]:
    """The parameters that are not rounded. An embedding that the head shares is one of them: only
    the head's copy is rounded."""
    found = {
        id(one): one
        for module in hf.modules()
        for name, one in module.named_parameters(recurse=False)
        if type(module) not in _LINEAR or name == "bias"
    }
    return [*found.values()]


def rounded_copy_bytes(
    config: Any, title: str, numbers: str, device: torch.device, dtype: torch.dtype
) -> int:
    """Bytes of memory that `rounded_copy` needs if it shares nothing, computed from the config. On
    a CPU, they include the packed weights of a faster forward. dtype: of the weights that are not
    rounded. Raises BadModel if most of the model's weights are not in linear layers."""
    with torch.device("meta"):
        hf = AutoModelForCausalLM.from_config(config, dtype=dtype)
    linear = sum(one.weight.numel() for one in hf.modules() if type(one) in _LINEAR)
    share = linear / hf.num_parameters()
    if share < _LEAST:
        raise BadModel(
            f"draft {numbers}: only {share:.0%} of {title}'s weights are in linear layers, which "
            "are those that are rounded, so a copy would hardly be smaller than the model"
        )
    each = ROUNDED[numbers].bytes_each
    if device.type == "cpu" and hf.num_parameters() * dtype.itemsize <= PACKED_UP_TO:
        each += each + narrowest_dtype(device).itemsize
    return int(linear * each) + sum(one.numel() * one.element_size() for one in _others(hf))
