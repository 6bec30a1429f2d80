"""Checks a model's weight files by their headers: names, dtypes and shapes of the tensors, which
the `safetensors` library checks against each file's length. Refuses a config that describes a much
larger model than the files contain.

A file consists of 8 bytes with the header's length, the header as JSON, and the bytes of the
tensors without gaps. The header's length is checked here first: the library allows 100 MB.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.loading.model_files import files_in
from sequoia.loading.other_formats import refuse_quantised_tensors
from sequoia.validate_input import shown

LONGEST = 16_000_000  # bytes of a header, about ten times the largest one published
MOST_TENSORS = 100_000
WEIGHTS = ("F64", "F32", "F16", "BF16")
# dtypes of masks and counters, allowed in tensors whose names do not end in ".weight"
OTHERS = ("I64", "I32", "I16", "I8", "U8", "BOOL")
_POINTER = b"version https://git-lfs"
_INCOMPLETE = "the download is incomplete, so download it again"


@dataclass(frozen=True)
class Stored:
    """Dtype and shape of a tensor in a file. kind: the format's name for the dtype, such as
    "BF16"."""

    kind: str
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """How many numbers the tensor has."""
        return math.prod(self.shape)


def read_header(path: Path, title: str) -> dict[str, Stored]:
    """The tensors in the file at `path`, by name. Raises BadModel if the file cannot be read,
    is incomplete, is invalid, or has quantised tensors. title: the model's name in messages."""
    what = f"{title}: {path.name[:80]}"
    try:
        with path.open("rb") as file:
            _check_size(file.read(64), path.stat().st_size, what)
        found = _tensors(path, what)
    except SafetensorError as problem:
        words = "".join(filter(str.isprintable, str(problem)))[:200]
        raise BadModel(f"{what} is damaged or {_INCOMPLETE} (safetensors says: {words})") from None
    except OSError as problem:
        raise BadModel(f"{what} cannot be read ({problem.strerror})") from None
    refuse_quantised_tensors({name: tensor.kind for name, tensor in found.items()}, title)
    for name, tensor in found.items():
        allowed = WEIGHTS if name.endswith(".weight") else WEIGHTS + OTHERS
        if tensor.kind not in allowed:
            raise BadModel(
                f"{what}: tensor {shown(name)} has dtype {shown(tensor.kind)}; it must be one of "
                f"{', '.join(allowed)}"
            )
    return found


def _tensors(path: Path, what: str) -> dict[str, Stored]:
    with safe_open(path, "pt") as file:
        names = file.keys()
        if not 0 < len(names) <= MOST_TENSORS:
            raise BadModel(f"{what} has {len(names):,} tensors; expected 1 to {MOST_TENSORS:,}")
        slices = ((name, file.get_slice(name)) for name in names)
        return {name: Stored(one.get_dtype(), tuple(one.get_shape())) for name, one in slices}


def _check_size(start: bytes, length: int, what: str) -> None:
    """Raises BadModel unless a file that begins with `start` and has `length` bytes can hold its
    header, and the header is not too long."""
    if start.startswith(_POINTER):
        raise BadModel(
            f"{what} is only a Git LFS pointer to the weights; fetch the weights with git lfs pull"
        )
    if length < 8:
        raise BadModel(f"{what} has {length} bytes, too few for a safetensors file; {_INCOMPLETE}")
    size = int.from_bytes(start[:8], "little")
    if start[8:9] != b"{" or not 2 <= size <= 2**40:
        raise BadModel(f"{what} is not a safetensors file: it does not start with a header")
    if size > LONGEST:
        raise BadModel(f"{what} has a header of {size:,} bytes; the limit is {LONGEST:,} bytes")


# Limit for the buffers that a model allocates, such as masks of its whole context.
MOST_TABLE_BYTES = 4_000_000_000
# Some parameters are computed instead of stored. So a config may describe twice as many parameters
# as the files contain, plus this many.
_SPARE = 2**20


def weight_paths(folder: Path, title: str) -> list[Path]:
    """The files in `folder` with the weights. Raises BadModel if they are not all there."""
    return [folder / name for name in files_in(folder, title).weights]


def stored_tensors(folder: Path, title: str) -> dict[str, Stored]:
    """Dtype and shape of all tensors in the weight files, by name. Raises BadModel if a file is
    missing or damaged."""
    headers = [read_header(path, title) for path in weight_paths(folder, title)]
    return {name: tensor for tensors in headers for name, tensor in tensors.items()}


def check_described(config: Any, tensors: dict[str, Stored], title: str) -> None:
    """Raises BadModel if the config describes a model with far more parameters than `tensors` have,
    or with very large buffers. Loading such a model could exhaust the memory: `transformers` fills
    parameters that the files lack with random numbers."""
    with torch.device("meta"):
        # A config may name an attention kernel that is not installed. Loading ignores the name too.
        hf = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    stored = sum(tensor.numbers for tensor in tensors.values())
    described = sum(weight.numel() for weight in hf.parameters())
    if described > 2 * stored + _SPARE:
        raise BadModel(
            f"{title}: its config describes {described:,} parameters, but its files contain "
            f"{stored:,}"
        )
    tables = sum(table.numel() * table.element_size() for table in hf.buffers())
    if tables > MOST_TABLE_BYTES:
        raise BadModel(
            f"{title}: its config asks for buffers of {tables / 1e9:,.2f} GB in addition to the "
            f"weights; the limit is {MOST_TABLE_BYTES / 1e9:.0f} GB"
        )
