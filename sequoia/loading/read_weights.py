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
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.loading.model_checks import Source
from sequoia.models.layers import layer_list

_LISTED = 3  # tensors named in a message
_MAX_NAME = 80  # characters of a name in a message
_PARTS = 8  # parts named in a message
# Masks and tables that old versions of transformers saved. New versions compute them. For instance,
# "attn.bias" is the causal mask of GPT-2.
_COMPUTED = re.compile(r"(\.|^)(masked_bias|causal_mask|inv_freq|(attn|attention)\.bias)$")


def unused_words(hf: Any, title: str, unexpected: Iterable[str]) -> str:
    """The tensors that `from_pretrained` reports as `unexpected`, counted by part, as "1 of
    model.mtp, 2 of vision_tower"; "" if there are none. Masks and tables that `hf` computes itself
    are left out. Raises BadModel if a tensor is in a part that `hf` has, such as a decoder layer or
    the head, or in a further layer."""
    buffers = {name for name, _ in hf.named_buffers()}
    names = sorted(_full(name, hf) for name in unexpected if not _COMPUTED.search(name))
    names = [name for name in names if name not in buffers]
    layers = (layer_list(hf) or ("",))[0]
    parts = {name: _head(name, hf, layers) or _part(name, hf, layers) for name in names}
    if inside := [name for name, part in parts.items() if not part]:
        raise BadModel(
            f"{title}: its files contain {counted(inside)} that a model with its config does not "
            f"have: {listed(inside)}"
        )
    counts = Counter(parts.values())
    named = [f"{count:,} of {part[:_MAX_NAME]}" for part, count in [*counts.items()][:_PARTS]]
    others = sum([*counts.values()][_PARTS:])
    return ", ".join(named + ([f"{others:,} of other parts"] if others else []))


def _full(name: str, hf: Any) -> str:
    """The tensor's full name in `hf`. In some files, names lack the prefix of the base model, such
    as "model."."""
    first = name.partition(".")[0]
    short = not hasattr(hf, first) and hasattr(hf.base_model, first)
    return f"{hf.base_model_prefix}.{name}" if short else name


def _part(name: str, hf: Any, layers: str) -> str:
    """The outermost part of `name` that does not exist in `hf`: "vision_tower" for
    "vision_tower.layers.0.weight". "" if it is inside the list of `layers`, or inside another part
    that does not contain this list."""
    module = hf
    known = ""
    for part in name.split("."):
        if known == f"{layers}." or not layers.startswith(known):
            return ""
        known += part
        module = getattr(module, part, None)
        if module is None:
            return known
        known += "."
    return ""


def _head(name: str, hf: Any, layers: str) -> str:
    """The extra prediction head that the tensor `name` belongs to, "" if to none. Such heads are
    stored as if they were layers after the last one."""
    config = hf.config.get_text_config()
    last = config.num_hidden_layers
    heads = getattr(config, "num_nextn_predict_layers", None) or 0
    found = (f"{layers}.{number}" for number in range(last, last + heads))
    return next((head for head in found if name.startswith(f"{head}.")), "")


def counted(names: Collection[Any]) -> str:
    """The number of `names` in words, as "3 tensors"."""
    return f"{len(names):,} tensor{'' if len(names) == 1 else 's'}"


def listed(names: Collection[str]) -> str:
    """The first three of the sorted `names`, in words."""
    first = [name[:_MAX_NAME] for name in sorted(names)[:_LISTED]]
    return ", ".join(first) + (", ..." if len(names) > _LISTED else "")


# part of a `transformers` error message that leaves the cause to the log
_NOT_CONVERTED = "automatic conversion of the weights"


@dataclass(frozen=True)
class Weights:
    """A model with all of its weights, and the tensors in its files that it does not use, in
    words."""

    hf: Any
    unused: str


def read_weights(source: Source, dtype: torch.dtype, **placement: Any) -> Weights:
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
        raise _not_converted(source.title) from error
    hf, info = loaded
    _refuse_other_shapes(source.title, info)
    _refuse_missing(source.title, info)
    unused = unused_words(hf, source.title, info["unexpected_keys"])
    check_frequencies(hf, source.title)
    return Weights(hf, unused)


def _not_converted(title: str) -> BadModel:
    """The cause of an error that only refers to the log."""
    return BadModel(
        f"{title}: the tensors in its files cannot be merged into those the model needs, because "
        "one of them (such as an expert's weight) is missing or has the wrong shape"
    )


def _refuse_other_shapes(title: str, info: Mapping[str, Any]) -> None:
    if others := sorted(info["mismatched_keys"]):
        name, stored, needed = others[0]
        raise BadModel(
            f"{title}: its files contain {counted(others)} with a shape that does not fit its "
            f"config, for instance {name}: {_shape(stored)} instead of {_shape(needed)}"
        )


def _refuse_missing(title: str, info: Mapping[str, Any]) -> None:
    """Raises BadModel if tensors are missing. A tensor that is tied to one in the files does not
    count as missing."""
    if missing := info["missing_keys"]:
        raise BadModel(
            f"{title}: its files lack {counted(missing)} that the model needs: {listed(missing)}"
        )


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
                    f"{title}: the rotary frequencies {name}.{key} {_words(loaded)}; they should "
                    "be the float32 numbers that its config gives"
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


def _words(loaded: torch.Tensor) -> str:
    name = str(loaded.dtype).removeprefix("torch.")
    return f"have dtype {name}" if name != "float32" else "have other values"


@torch.inference_mode()
def refuse_not_finite(hf: Any, title: str) -> None:
    """Raises BadModel with the name of the first weight of the model `hf` that contains NaN or
    infinity. Weights left on disk are not checked."""
    for name, weight in hf.named_parameters():
        if _is_here(weight) and not _is_finite(weight):
            raise BadModel(f"{title}: {name} contains NaN or infinity{_why(weight.dtype)}")


def _why(dtype: torch.dtype) -> str:
    if dtype == torch.float16:
        return (
            " in float16; its numbers may be too large for float16, so load the model in another "
            "dtype"
        )
    return ", so its weights are damaged"


def _is_here(weight: torch.Tensor) -> bool:
    """Whether `weight` has floating-point data in memory. Weights that `accelerate` left on disk
    are on torch's meta device and have none."""
    return weight.is_floating_point() and bool(weight.numel()) and not weight.is_meta


def _is_finite(weight: torch.Tensor) -> bool:
    """Whether all numbers are finite. `aminmax` returns NaN if any number is NaN. On a CPU it is 20
    to 80 times as fast as `isfinite`."""
    return all(math.isfinite(float(one)) for one in torch.aminmax(weight))
