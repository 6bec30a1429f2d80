"""Reads the header of a safetensors file (the names, dtypes and shapes of its tensors) and checks
it against the file's length.

A file consists of 8 bytes with the header's length, the header as JSON, and the bytes of the
tensors without gaps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sequoia.errors import BadModel
from sequoia.loading.json_file import object_of
from sequoia.loading.quantised import refuse_quantised_tensors
from sequoia.validate_input import shown

LONGEST = 16_000_000  # bytes of a header, about ten times the largest one published
MOST_TENSORS = 100_000
MOST_AXES = 8
LARGEST = 2**40  # numbers in a tensor
WEIGHTS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # bytes per number
# dtypes of masks and counters, allowed in tensors whose names do not end in ".weight"
OTHERS = {"I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_POINTER = b"version https://git-lfs"


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
            start = file.read(64)
            length = path.stat().st_size
            size = _header_size(start, length, what)
            file.seek(8)
            found = object_of(file.read(size), f"the header of {what}", BadModel)
    except OSError as problem:
        raise BadModel(f"{what} cannot be read ({problem.strerror})") from None
    tensors = {name: entry for name, entry in found.items() if name != "__metadata__"}
    _check_metadata(found.get("__metadata__"), what)
    if not tensors or len(tensors) > MOST_TENSORS:
        raise BadModel(f"{what} has {len(tensors):,} tensors; expected 1 to {MOST_TENSORS:,}")
    refuse_quantised_tensors(
        {name: entry.get("dtype") for name, entry in tensors.items() if isinstance(entry, dict)},
        title,
    )
    checked = {name: _entry(name, entry, what) for name, entry in tensors.items()}
    _check_offsets(tensors, length - 8 - size, what)
    return checked


def _header_size(start: bytes, length: int, what: str) -> int:
    if start.startswith(_POINTER):
        raise BadModel(
            f"{what} is only a Git LFS pointer to the weights; fetch the weights with git lfs pull"
        )
    if length < 8:
        raise BadModel(
            f"{what} has {length} bytes, too few for a safetensors file; the download is "
            "incomplete, so download it again"
        )
    size = int.from_bytes(start[:8], "little")
    if start[8:9] != b"{" or not 2 <= size <= 2**40:
        raise BadModel(f"{what} is not a safetensors file: it does not start with a header")
    if size > LONGEST:
        raise BadModel(f"{what} has a header of {size:,} bytes; the limit is {LONGEST:,} bytes")
    if size > length - 8:
        raise BadModel(
            f"{what} ends within its header of {size:,} bytes; the download is incomplete, so "
            "download it again"
        )
    return size


def _check_metadata(metadata: Any, what: str) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or not all(isinstance(one, str) for one in metadata.values()):
        raise BadModel(f"{what} has metadata that is not a JSON object of strings")


def _entry(name: str, entry: Any, what: str) -> Stored:
    """Dtype and shape of the tensor `name` from its header `entry`. Raises BadModel if the entry is
    invalid."""
    where = f"{what}: tensor {shown(name)}"
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise BadModel(f"{where} must have exactly the fields dtype, shape and data_offsets")
    kind = entry["dtype"]
    shape = entry["shape"]
    offsets = entry["data_offsets"]
    allowed = WEIGHTS if name.endswith(".weight") else WEIGHTS | OTHERS
    width = allowed.get(kind) if isinstance(kind, str) else None
    if width is None:
        raise BadModel(f"{where} has dtype {shown(kind)}; it must be one of {', '.join(allowed)}")
    if not _is_list(shape, MOST_AXES) or math.prod(shape) > LARGEST:
        raise BadModel(
            f"{where} has the shape {shown(shape)}; it must be a list of at most {MOST_AXES} whole "
            f"numbers whose product is at most {LARGEST:,}"
        )
    if not _is_list(offsets, 2) or len(offsets) != 2:
        raise BadModel(
            f"{where} has data_offsets {shown(offsets)}; they must be two positions, counted from "
            "the end of the header"
        )
    taken = offsets[1] - offsets[0]
    needed = math.prod(shape) * width
    if taken != needed:
        raise BadModel(f"{where} has {taken:,} bytes, but its shape and dtype need {needed:,}")
    return Stored(kind, tuple(shape))


def _is_list(value: Any, most: int) -> bool:
    """Whether `value` is a list of at most `most` whole numbers, each from 0 to 2**50."""
    return (
        isinstance(value, list)
        and len(value) <= most
        and all(type(one) is int and 0 <= one <= 2**50 for one in value)
    )


def _check_offsets(tensors: Mapping[str, dict[str, Any]], length: int, what: str) -> None:
    """Raises BadModel unless the tensors fill the file from the end of the header to the end of the
    file, without gaps or overlaps. length: bytes after the header."""
    end = 0
    for first, last in sorted(tuple(entry["data_offsets"]) for entry in tensors.values()):
        if first != end:
            raise BadModel(f"{what} has tensors that overlap, or unused bytes before a tensor")
        end = last
    if end > length:
        raise BadModel(
            f"{what} ends {end - length:,} bytes too early; the download is incomplete, so "
            "download it again"
        )
    if end < length:
        raise BadModel(f"{what} has {length - end:,} unused bytes after its last tensor")
