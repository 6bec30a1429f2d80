"""The header of a safetensors file: the names, dtypes and shapes of its tensors, checked
against the file's length.

The format is 8 bytes that give the header's length, the header as JSON, and the tensors' bytes
without gaps. Reads no weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sequoia.errors import BadModel
from sequoia.loading.json_file import object_of
from sequoia.validate_input import shown

LONGEST = 16_000_000  # bytes of a header; the largest published ones take a tenth of that
MOST_TENSORS = 100_000
MOST_AXES = 8
LARGEST = 2**40
WEIGHTS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}  # bytes of a number
# masks and counters that are stored beside the weights
OTHERS = {"I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
_POINTER = b"version https://git-lfs"


@dataclass(frozen=True)
class Stored:
    """A tensor in a file: its dtype as safetensors names it, and its shape."""

    kind: str
    shape: tuple[int, ...]

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)


def read_header(path: Path, title: str) -> dict[str, Stored]:
    """The tensors in the file at `path` of the model `title`, by name. Raises BadModel if it is
    incomplete, not a safetensors file, or contradicts itself."""
    what = f"{title}: {path.name[:80]}"
    try:
        with path.open("rb") as file:
            start = file.read(64)
            length = path.stat().st_size
            size = _header_size(start, length, what)
            file.seek(8)
            found = object_of(file.read(size), f"{what}, its header,", BadModel)
    except OSError as problem:
        raise BadModel(f"{what} cannot be read ({problem.strerror})") from None
    tensors = {name: entry for name, entry in found.items() if name != "__metadata__"}
    _check_metadata(found.get("__metadata__"), what)
    if not tensors or len(tensors) > MOST_TENSORS:
        raise BadModel(f"{what} has {len(tensors):,} tensors; expected 1 to {MOST_TENSORS:,}")
    checked = {name: _entry(name, entry, what) for name, entry in tensors.items()}
    _check_offsets(tensors, length - 8 - size, what)
    return checked


def _header_size(start: bytes, length: int, what: str) -> int:
    if start.startswith(_POINTER):
        raise BadModel(
            f"{what} is only a Git LFS pointer to the weights; fetch the file itself (git lfs pull)"
        )
    if length < 8:
        raise BadModel(
            f"{what} has {length} bytes, too few for a safetensors file; it was not downloaded "
            "completely"
        )
    size = int.from_bytes(start[:8], "little")
    if start[8:9] != b"{" or not 2 <= size <= 2**40:
        raise BadModel(f"{what} is not a safetensors file: its first bytes are not those of one")
    if size > LONGEST:
        raise BadModel(
            f"{what} has a header of {size / 1e6:,.0f} MB; the limit is {LONGEST / 1e6:.0f} MB"
        )
    if size > length - 8:
        raise BadModel(
            f"{what} ends within its header of {size:,} bytes; it was not downloaded completely"
        )
    return size


def _check_metadata(metadata: Any, what: str) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or not all(isinstance(one, str) for one in metadata.values()):
        raise BadModel(f"{what} has metadata that is not a JSON object of strings")


def _entry(name: str, entry: Any, what: str) -> Stored:
    """The tensor `name` as the header describes it. Raises BadModel if the description is
    invalid."""
    where = f"{what}: tensor {shown(name)}"
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise BadModel(f"{where} must have exactly the fields dtype, shape and data_offsets")
    kind = entry["dtype"]
    shape = entry["shape"]
    offsets = entry["data_offsets"]
    width = (WEIGHTS | OTHERS).get(kind) if isinstance(kind, str) else None
    if width is None or (name.endswith(".weight") and kind not in WEIGHTS):
        raise BadModel(
            f"{where} is stored as {shown(kind)}; allowed for weights are {', '.join(WEIGHTS)}"
        )
    if not _is_list(shape, MOST_AXES) or math.prod(shape) > LARGEST:
        raise BadModel(
            f"{where} has an impossible shape; at most {MOST_AXES} axes and {LARGEST:,} numbers"
        )
    if not _is_list(offsets, 2) or len(offsets) != 2:
        raise BadModel(f"{where} has data_offsets other than two positions in the file")
    taken = offsets[1] - offsets[0]
    needed = math.prod(shape) * width
    if taken != needed:
        raise BadModel(f"{where} has {taken:,} bytes, but its shape takes {needed:,}")
    return Stored(kind, tuple(shape))


def _is_list(value: Any, most: int) -> bool:
    """Whether `value` is a list of at most `most` whole numbers, none of them negative."""
    return (
        isinstance(value, list)
        and len(value) <= most
        and all(type(one) is int and 0 <= one <= 2**50 for one in value)
    )


def _check_offsets(tensors: Mapping[str, dict[str, Any]], length: int, what: str) -> None:
    """Raises BadModel unless tensors follow each other from the first byte after the header to the
    end of the file."""
    end = 0
    for first, last in sorted(tuple(entry["data_offsets"]) for entry in tensors.values()):
        if first != end:
            raise BadModel(
                f"{what} has tensors that overlap, or bytes between them that belong to no tensor"
            )
        end = last
    if end > length:
        raise BadModel(
            f"{what} ends {end - length:,} bytes too early; it was not downloaded completely"
        )
    if end < length:
        raise BadModel(
            f"{what} has {length - end:,} bytes after its last tensor that belong to no tensor"
        )
