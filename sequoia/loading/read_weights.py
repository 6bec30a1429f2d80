"""Loads a model's weights from safetensors files. Refused are files in which a tensor is missing,
has the wrong shape, or contains NaN or infinity, files with further tensors inside the layers, and
models whose rotary frequencies are not those that the config gives.

`transformers` would fill a missing tensor with random numbers and only log a warning. Tensors
without a place in the model, such as a vision tower or extra prediction heads, are harmless,
because this program only continues text. A bias inside a layer, or an additional layer, shows that
the config does not belong to these weights.

`transformers` keeps the frequencies in float32, whatever the dtype of the weights. If they were
rounded to bfloat16, queries and keys would be rotated by wrong angles: off by up to 0.44 rad at
position 1,000 for 64 rotated dimensions and base 10,000. The self-test (models/self_test.py)
detects neither this, because it compares a model with itself, nor a bad weight in the embedding of
a rare token."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.loading.model_checks import Source
from sequoia.loading.model_files import first
from sequoia.models.layers import layer_list

# Masks and tables that old versions of transformers saved. New versions compute them. For instance,
# "attn.bias" is the causal mask of GPT-2.
_COMPUTED = re.compile(r"(\.|^)(masked_bias|causal_mask|inv_freq|(attn|attention)\.bias)$")
# part of a `transformers` error message that leaves the cause to the log
_NOT_CONVERTED = "automatic conversion of the weights"


def read_weights(source: Source, dtype: torch.dtype, **placement: Any) -> Any:
    """The model of `source` in `dtype`, on the CPU unless `placement` (further arguments of
    `from_pretrained`) names other devices.

    Raises BadModel if the weights do not fit the config. Errors of other libraries pass through.
    """
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            source.folder,
            config=source.config,
            dtype=dtype,
            use_safetensors=True,
            attn_implementation=source.attention,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **placement,
        )
    except RuntimeError as error:
        if _NOT_CONVERTED not in str(error):
            raise
        raise BadModel(
            f"{source.title}: the tensors in its files cannot be merged into those the model "
            "needs, because one of them (such as an expert's weight) is missing or has the wrong "
            "shape"
        ) from error
    hf, info = loaded
    _refuse_other_shapes(source.title, info)
    _refuse_missing(source.title, info)
    _refuse_unknown(source.title, info, hf)
    check_frequencies(hf, source.title)
    return hf


def _refuse_other_shapes(title: str, info: Mapping[str, Any]) -> None:
    if others := sorted(info["mismatched_keys"]):
        name, stored, needed = others[0]
        raise BadModel(
            f"{title}: its files contain {_counted(others)} with a shape that does not fit its "
            f"config, for instance {name}: {_shape(stored)} instead of {_shape(needed)}"
        )


def _refuse_missing(title: str, info: Mapping[str, Any]) -> None:
    """Raises BadModel if tensors are missing. A tensor that is tied to one in the files does not
    count as missing."""
    if missing := info["missing_keys"]:
        raise BadModel(
            f"{title}: its files lack {_counted(missing)} that the model needs: {first(missing)}"
        )


def _refuse_unknown(title: str, info: Mapping[str, Any], hf: Any) -> None:
    """Raises BadModel if there are tensors in the layers, or in a further layer, that the model
    does not have. In some files, names lack the prefix of the base model, such as "model."."""
    layers = (layer_list(hf) or ("",))[0]
    starts = (f"{layers}.", f"{layers.removeprefix(f'{hf.base_model_prefix}.')}.")
    unknown = [name for name in info["unexpected_keys"] if not _COMPUTED.search(name)]
    if inside := [name for name in unknown if name.startswith(starts)]:
        raise BadModel(
            f"{title}: its files contain {_counted(inside)} that a model with its config does not "
            f"have: {first(inside)}"
        )


def _counted(names: Collection[Any]) -> str:
    return f"{len(names):,} tensor{'' if len(names) == 1 else 's'}"


def _shape(shape: torch.Size) -> str:
    return " x ".join(map(str, shape)) or "a single number"


_ROUNDING = 1e-6  # relative tolerance: devices may round the last bit of a power differently


def check_frequencies(hf: nn.Module, title: str) -> None:
    """Raises BadModel unless all rotary frequencies of `hf` are float32 and have the right values.
    For the right values, each rotary module is built again on the CPU, from its config. Differences
    due to rounding are allowed."""
    for name, module in rotary_modules(hf):
        fresh = frequencies(type(module)(module.config))
        for key, loaded in frequencies(module).items():
            if not _same(loaded, fresh[key]):
                raise BadModel(
                    f"{title}: the rotary frequencies {name}.{key} are not the float32 numbers "
                    "that its config gives"
                )


def rotary_modules(hf: nn.Module) -> Iterator[tuple[str, Any]]:
    """Name and module of every submodule of `hf` that has rotary frequencies."""
    for name, module in hf.named_modules():
        if frequencies(module):
            yield name, module


def frequencies(module: nn.Module) -> dict[str, torch.Tensor]:
    """The rotary frequencies of `module` itself, without its submodules, by buffer name. Each has
    the shape (rotated dimensions / 2,)."""
    return {
        name: buffer
        for name, buffer in module.named_buffers(recurse=False)
        if name.endswith("inv_freq")
    }


def _same(loaded: torch.Tensor, fresh: torch.Tensor) -> bool:
    if loaded.dtype != torch.float32 or loaded.shape != fresh.shape:
        return False
    return torch.allclose(loaded.cpu(), fresh, rtol=_ROUNDING, atol=0)


@torch.inference_mode()
def refuse_not_finite(hf: Any, title: str) -> None:
    """Raises BadModel with the name of the first weight of the model `hf` that contains NaN or
    infinity. Weights that `accelerate` left on disk, on torch's meta device, are not checked."""
    for name, weight in hf.named_parameters():
        is_here = weight.is_floating_point() and weight.numel() and not weight.is_meta
        # `aminmax` returns NaN if any number is NaN; on a CPU it is 20 to 80 times as fast as
        # `isfinite`
        if is_here and not all(math.isfinite(float(one)) for one in torch.aminmax(weight)):
            raise BadModel(
                f"{title}: {name} contains NaN or infinity, so its weights are damaged, or too "
                "large for float16: then load the model in another dtype"
            )
