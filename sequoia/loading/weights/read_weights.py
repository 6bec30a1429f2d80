"""Loads a model's weights from safetensors files, and refuses files in which a tensor is missing or
has the wrong shape.

`transformers` would fill a missing tensor with random numbers and only log a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.loading.model_checks import Source
from sequoia.loading.weights.rotary_frequencies import check_frequencies
from sequoia.loading.weights.unused_tensors import Unused, counted, listed, unused_tensors

# part of a `transformers` error message that leaves the cause to the log
_NOT_CONVERTED = "automatic conversion of the weights"


@dataclass(frozen=True)
class Weights:
    """A model with all of its weights, and the tensors in its files that it does not use."""

    hf: Any
    unused: Unused


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
    unused = unused_tensors(hf, source.title, info["unexpected_keys"])
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
