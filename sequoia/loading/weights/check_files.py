"""Checks of a model's weight files: which files they are, and that they hold what the config
describes.

Reads headers only. Whether every tensor belongs to the model is known once it is built (see
read_weights.py).
"""

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
# For tables that a model computes from its config, such as masks of its whole context.
MOST_TABLE_BYTES = 4_000_000_000
_SAFETENSORS = re.compile(r"\w[\w.-]{0,200}\.safetensors")
_SPARE = 2**20  # numbers; models that compute some of their parameters store fewer of them


def weight_paths(folder: Path, title: str) -> list[Path]:
    """The files in `folder` that hold the weights: the one file, else those that the index names,
    all of them safetensors. Raises BadModel if there are none, or the index leads elsewhere."""
    if (folder / ONE_FILE).is_file():
        return [folder / ONE_FILE]
    if (folder / INDEX).is_file():
        return [folder / name for name in sorted(set(_weight_map(folder, title).values()))]
    others = sorted(path.name for path in folder.glob("*.safetensors"))
    if others:
        raise BadModel(
            f"{title} has {', '.join(others[:3])}, but neither {ONE_FILE} nor {INDEX}, which says "
            "what is in which file"
        )
    raise BadModel(
        f"{title} has no .safetensors file; other weight formats can run code and are not loaded"
    )


def stored_tensors(folder: Path, title: str) -> dict[str, Stored]:
    """All tensors in the weight files, by name. Raises BadModel if a file is damaged or the
    index is wrong."""
    paths = weight_paths(folder, title)
    found = {path.name: read_header(path, title) for path in paths}
    if paths[0].name != ONE_FILE:
        _check_index(_weight_map(folder, title), found, title)
    return {name: tensor for tensors in found.values() for name, tensor in tensors.items()}


def check_described(config: Any, tensors: dict[str, Stored], title: str) -> None:
    """Raises BadModel if the config describes a model that takes far more memory than `tensors`
    fill: it would consist of random numbers, or not fit at all. Names and shapes are compared when
    the weights are loaded."""
    with torch.device("meta"):
        hf = AutoModelForCausalLM.from_config(config)
    stored = sum(tensor.numbers for tensor in tensors.values())
    described = sum(weight.numel() for weight in hf.parameters())
    if described > 2 * stored + _SPARE:
        raise BadModel(
            f"{title}: its config describes {described:,} parameters, but its files hold {stored:,}"
        )
    tables = sum(table.numel() * table.element_size() for table in hf.buffers())
    if tables > MOST_TABLE_BYTES:
        raise BadModel(
            f"{title}: its config asks for tables of {tables / 1e9:,.0f} GB besides the weights; "
            f"the limit is {MOST_TABLE_BYTES / 1e9:.0f} GB"
        )


def _weight_map(folder: Path, title: str) -> dict[str, str]:
    """The file of each tensor, from the index; every file is a safetensors file in `folder`."""
    what = f"{title}: {INDEX}"
    found = read_object(folder / INDEX, what, MOST_INDEX_BYTES, BadModel)
    where = found.get("weight_map")
    if not isinstance(where, dict) or not where or not isinstance(found.get("metadata"), dict):
        raise BadModel(f"{what} has no metadata or no weight_map, which says what is in which file")
    for file in set(map(_text, where.values())):
        if not _SAFETENSORS.fullmatch(file):
            raise BadModel(
                f"{what} names {shown(file)}, which is not a .safetensors file in the folder; "
                "other weight formats can run code and are not loaded"
            )
        if not (folder / file).is_file():
            raise BadModel(f"{what} names {shown(file)}, which is not in the folder")
    return where


def _text(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)


def _check_index(where: dict[str, str], found: dict[str, dict[str, Stored]], title: str) -> None:
    """Every tensor is in the file that the index names, and in no other."""
    for name, file in where.items():
        if name not in found[file]:
            raise BadModel(
                f"{title}: {INDEX} puts tensor {shown(name)} into {file}, which does not contain it"
            )
    files = Counter(name for tensors in found.values() for name in tensors)
    name, times = files.most_common(1)[0]
    if times > 1:
        raise BadModel(f"{title}: tensor {shown(name)} is in {times} files; it may be in only one")
