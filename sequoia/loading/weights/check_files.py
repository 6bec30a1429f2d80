"""Finds a model's weight files, and refuses a config that describes a much larger model than these
files contain. Of the weight files, only the headers are read."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.loading.json_file import read_object
from sequoia.loading.weights.safetensors_header import Stored, read_header
from sequoia.validate_input import shown

ONE_FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"
MOST_INDEX_BYTES = 32_000_000
# Limit for the buffers that a model allocates, such as masks of its whole context.
MOST_TABLE_BYTES = 4_000_000_000
_SAFETENSORS = re.compile(r"\w[\w.-]{0,200}\.safetensors")
# Some parameters are computed instead of stored. So a config may describe twice as many parameters
# as the files contain, plus this many.
_SPARE = 2**20


def weight_paths(folder: Path, title: str) -> list[Path]:
    """The weight files in `folder`: model.safetensors, or else the files that the index names.
    Raises BadModel if there are none, or if the index is wrong."""
    if (folder / ONE_FILE).is_file():
        return [folder / ONE_FILE]
    if (folder / INDEX).is_file():
        return [folder / name for name in sorted(set(_weight_map(folder, title).values()))]
    others = sorted(path.name for path in folder.glob("*.safetensors"))
    if others:
        raise BadModel(
            f"{title} has {', '.join(others[:3])}, but neither {ONE_FILE} nor {INDEX}, the index "
            "that says which tensor is in which file"
        )
    raise BadModel(
        f"{title} has no .safetensors file; other weight formats may run code and are not loaded"
    )


def stored_tensors(folder: Path, title: str) -> dict[str, Stored]:
    """Dtype and shape of all tensors in the weight files, by name. Raises BadModel if a file is
    missing or damaged, or if the index does not match the files."""
    paths = weight_paths(folder, title)
    found = {path.name: read_header(path, title) for path in paths}
    if paths[0].name != ONE_FILE:
        _check_index(_weight_map(folder, title), found, title)
    return {name: tensor for tensors in found.values() for name, tensor in tensors.items()}


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


def _weight_map(folder: Path, title: str) -> dict[str, str]:
    """Tensor -> file name, from the index. Raises BadModel if the index cannot be read or is not
    valid, or if one of the files is not a safetensors file in `folder`."""
    what = f"{title}: {INDEX}"
    found = read_object(folder / INDEX, what, MOST_INDEX_BYTES, BadModel)
    where = found.get("weight_map")
    if not isinstance(where, dict) or not where or not isinstance(found.get("metadata"), dict):
        raise BadModel(
            f"{what} has no metadata, or no weight_map that says which tensor is in which file"
        )
    for file in set(map(_text, where.values())):
        if not _SAFETENSORS.fullmatch(file):
            raise BadModel(
                f"{what} names {shown(file)}, which is not a .safetensors file in the folder; "
                "other weight formats may run code and are not loaded"
            )
        if not (folder / file).is_file():
            raise BadModel(f"{what} names {shown(file)}, which is not in the folder")
    return where


def _text(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)


def _check_index(where: dict[str, str], found: dict[str, dict[str, Stored]], title: str) -> None:
    """Raises BadModel if a tensor of the index is not in the file that the index names for it, or
    if a tensor is in several files. where: the file of each tensor, from the index. found: the
    tensors of each file."""
    for name, file in where.items():
        if name not in found[file]:
            raise BadModel(
                f"{title}: according to {INDEX}, tensor {shown(name)} is in {file}, but it is not"
            )
    files = Counter(name for tensors in found.values() for name in tensors)
    name, times = files.most_common(1)[0]
    if times > 1:
        raise BadModel(f"{title}: tensor {shown(name)} is in {times} files; it must be in only one")
