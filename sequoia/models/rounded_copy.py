"""A copy of a model with its linear layers rounded, for use as the draft of the model itself. It
needs no second model, and its distributions are close to the target's."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import torch
from accelerate.hooks import remove_hook_from_module
from torch import nn
from transformers import AutoModelForCausalLM
from transformers.pytorch_utils import Conv1D

from sequoia.errors import BadModel
from sequoia.models.fast_llama import PACKED_UP_TO
from sequoia.models.rounded_linear import ROUNDED, RoundedLinear
from sequoia.this_machine.dtypes import narrowest_dtype

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
