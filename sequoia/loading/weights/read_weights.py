"""Loads a model's weights from safetensors files, and refuses files that do not hold all of them.

`transformers` fills a tensor that is missing, or that has another shape, with random numbers and
only logs it. Arguments of `from_pretrained` say on which devices the weights go.
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

# part of an error of `transformers` that refers to the log for the rest
_NOT_CONVERTED = "automatic conversion of the weights"


@dataclass(frozen=True)
class Weights:
    """A model with all of its weights, and the unused tensors in its files."""

    hf: Any
    unused: Unused


def read_weights(source: Source, dtype: torch.dtype, **placement: Any) -> Weights:
    """The model of `source` in `dtype`, on the CPU or where `placement` (arguments of
    `from_pretrained`) says.

    Raises BadModel if tensors are missing, have another shape or do not belong in the decoder,
    and where rotary frequencies are not those of the config. Errors of other libraries pass
    through.
    """
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            source.folder,
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
        raise _explained(error, source.title) from error
    hf, info = loaded
    _refuse_other_shapes(source.title, info)
    _refuse_missing(source.title, info)
    unused = unused_tensors(hf, source.title, info["unexpected_keys"])
    check_frequencies(hf, source.title)
    return Weights(hf, unused)


def _explained(error: RuntimeError, title: str) -> Exception:
    """`error`, or instead of it one that says what `transformers` only logs."""
    if _NOT_CONVERTED not in str(error):
        return error
    return BadModel(
        f"{title}: tensors in its files cannot be joined into those the model needs; "
        "one of several, such as an expert's, is missing or has another shape"
    )


def _refuse_other_shapes(title: str, info: Mapping[str, Any]) -> None:
    if others := sorted(info["mismatched_keys"]):
        name, stored, needed = others[0]
        raise BadModel(
            f"{title}: the shapes of {counted(others)} in its files are not those that its config "
            f"gives, for instance {name}: {_shape(stored)} instead of {_shape(needed)}"
        )


def _refuse_missing(title: str, info: Mapping[str, Any]) -> None:
    """Tensors tied to one in the files do not count as missing."""
    if missing := info["missing_keys"]:
        raise BadModel(
            f"{title}: its files lack {counted(missing)} that the model needs: {listed(missing)}"
        )


def _shape(shape: torch.Size) -> str:
    return " x ".join(map(str, shape)) or "a single number"
